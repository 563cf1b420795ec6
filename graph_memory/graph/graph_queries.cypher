# parts, which queries below name; whatever names another stands before it
# Of each query its name, then what Kùzu is asked; one with LABEL is one of users and one of things.
TOP = <DEGREE> ORDER BY degree DESC, n.id LIMIT $limit
DEGREE = RETURN n.id, label(n), n.type, n.name, count(f.id) AS degree
OUT = (n:User:Entity)-[f:<RELS>]->(m:User:Entity)
EITHER = (n:User:Entity)-[f:<RELS>]-(m:User:Entity)
BESIDE = (n)-[f:<RELS>]-(m:User:Entity)
PRESENCE = (n)<-[f:PARTICIPATED_IN|MENTIONED_IN]-(m:User:Entity)
FACT = RETURN f.id, n.id, m.id, f.predicate, f.statement, f.importance, f.use_count, f.valid_to, f.status, f.recorded_at
STEPS = (b:User:Entity) WHERE a.id = $id AND b.id <> $id RETURN b.id, length(e) AS steps ORDER BY steps, b.id
RELS = KNOWS|RELATED_TO

# One table at a time: asked for by ids of both, Kùzu 0.11.3 may give those of one table twice
# and of the other none.
degrees_User
MATCH (n:User) WHERE n.id IN $ids
OPTIONAL MATCH <BESIDE> WHERE m.id <> n.id
RETURN n.id, label(n), '', n.name, count(f.id) AS degree

degrees_Entity
MATCH (n:Entity) WHERE n.id IN $ids
OPTIONAL MATCH <BESIDE> WHERE m.id <> n.id <DEGREE>

sessions
MATCH (n:Session) WHERE n.id IN $ids
OPTIONAL MATCH <PRESENCE> <DEGREE>

found
MATCH (n:User:Entity)
WHERE n.names CONTAINS $norm OR (label(n) = 'User' AND n.id CONTAINS $text)
OPTIONAL MATCH <BESIDE> WHERE m.id <> n.id <TOP>

found_sessions
MATCH (n:Session) WHERE n.names CONTAINS $norm
OPTIONAL MATCH <PRESENCE> <TOP>

all
MATCH (n:User:Entity)
OPTIONAL MATCH <BESIDE> WHERE m.id <> n.id <TOP>

all_sessions
MATCH (n:Session)
OPTIONAL MATCH <PRESENCE> <TOP>

neighbours
MATCH <EITHER> WHERE n.id = $id AND m.id <> $id
RETURN m.id, max(CASE WHEN f.status = '<ACTIVE>' THEN 1 ELSE 0 END) AS active, count(*) AS facts,
max(f.importance) AS weight, collect(DISTINCT f.predicate)
ORDER BY active DESC, facts DESC, weight DESC, m.id

# Neither can the number of steps be a parameter.
within_2
MATCH (a:User:Entity)-[e:<RELS>* SHORTEST 1..2]-<STEPS>

within_3
MATCH (a:User:Entity)-[e:<RELS>* SHORTEST 1..3]-<STEPS>

visitors
MATCH (n:Session {id: $id}) MATCH <PRESENCE>
RETURN f.id, m.id, n.id, lower(label(f)), f.times ORDER BY f.times DESC, m.id

around
MATCH <OUT>
WHERE (n.id = $id AND (m.id IN $ids OR m.id = $id)) OR (m.id = $id AND n.id IN $ids) <FACT>
ORDER BY f.id

from_<LABEL>
MATCH (n:<LABEL>)-[f:<RELS>]->(m:User:Entity) WHERE n.id IN $ids <FACT>

facts
MATCH <OUT> WHERE f.id IN $ids <FACT>

replaced
MATCH ()-[f:<RELS>]->() WHERE f.supersedes <> '[]'
RETURN f.supersedes

replacing
MATCH <OUT> WHERE f.supersedes <> '[]' <FACT>, f.supersedes ORDER BY f.recorded_at DESC, f.id

newest
MATCH <OUT> WHERE f.status = '<ACTIVE>' <FACT> ORDER BY f.recorded_at DESC, f.id LIMIT $limit

# A condition on the way cannot be a parameter; it is one of our own constants.
paths
MATCH p = (a:User:Entity)-[e:<RELS>* ALL SHORTEST 1..<HOPS> (r, n | WHERE r.status = '<ACTIVE>')]-(b:User:Entity)
WHERE a.id = $a AND b.id = $b
RETURN properties(nodes(p), 'id') AS ids, properties(rels(p), 'id') AS edges
ORDER BY list_to_string(' ', ids), list_to_string(' ', edges) LIMIT <WAYS>

connected
MATCH <EITHER> WHERE f.status = '<ACTIVE>' AND n.id <> m.id
RETURN n.id, count(DISTINCT m.id) AS many, count(DISTINCT f.id) AS facts
ORDER BY many DESC, facts DESC, n.id LIMIT $limit

besides
MATCH <EITHER> WHERE n.id = $id AND m.id <> $id AND f.status = '<ACTIVE>'
RETURN m.id, collect(DISTINCT f.id)

bridges
MATCH (n:User:Entity)-[f:PARTICIPATED_IN|MENTIONED_IN]->(s:Session) WHERE s.type = 'group'
WITH n.id AS id, s.circle AS circle, min(s.id) AS first, sum(f.times) AS said
WITH id, count(*) AS many, sum(said) AS times, collect(first) AS groups WHERE many > 1
RETURN id, many, groups ORDER BY many DESC, times DESC, id

orphans
MATCH (n:User:Entity) WHERE NOT EXISTS { MATCH <BESIDE> WHERE f.status = '<ACTIVE>' }
RETURN n.id ORDER BY n.name, n.id

everybody
MATCH (n:User:Entity)
RETURN n.id, label(n), n.type, n.name

every_fact
MATCH <OUT> WHERE n.id <> m.id
RETURN f.id, n.id, m.id, f.predicate, '', f.importance, f.use_count, f.valid_to, f.status,
f.recorded_at, f.archived_at, f.last_used, f.half_life, f.pinned, f.session
ORDER BY f.recorded_at DESC, f.id

every_session
MATCH (s:Session)
RETURN s.id, s.circle, s.name, s.type, s.persona

replaced_at
MATCH ()-[f:<RELS>]->() WHERE f.supersedes <> '[]'
RETURN f.supersedes, f.recorded_at ORDER BY f.recorded_at DESC

# One way after the other: without a direction what is said above happens, too.
hops_out_<LABEL>
MATCH (n:<LABEL>)-[f:<RELS>]->(m:User:Entity)
WHERE n.id IN $ids AND f.session IN $sessions AND f.status = '<ACTIVE>' AND n.id <> m.id
RETURN f.id, n.id, m.id

hops_in_<LABEL>
MATCH (n:<LABEL>)<-[f:<RELS>]-(m:User:Entity)
WHERE n.id IN $ids AND f.session IN $sessions AND f.status = '<ACTIVE>' AND n.id <> m.id
RETURN f.id, n.id, m.id

all_hops
MATCH <OUT> WHERE f.session IN $sessions AND f.status = '<ACTIVE>' AND n.id <> m.id
RETURN f.id, n.id, m.id
