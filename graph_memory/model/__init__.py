"""The things this memory talks about.

Frozen dataclasses without behaviour beyond what a kind of row means. Times are seconds since
the epoch in UTC, ids are strings, and text was cleaned by ``graph_memory.text.clean``.
"""

from .conversation import Addressee as Addressee
from .conversation import Asker as Asker
from .conversation import Batch as Batch
from .conversation import Erased as Erased
from .conversation import Message as Message
from .conversation import Presence as Presence
from .conversation import Quote as Quote
from .conversation import asker_of as asker_of
from .kinds import EPISODE as EPISODE
from .kinds import Entity as Entity
from .kinds import Episode as Episode
from .kinds import Fact as Fact
from .kinds import Forgotten as Forgotten
from .kinds import Link as Link
from .kinds import Mention as Mention
from .kinds import Merge as Merge
from .kinds import Name as Name
from .kinds import Participation as Participation
from .kinds import Session as Session
from .kinds import User as User
from .kinds import episode_id as episode_id
from .kinds import session_of as session_of
from .nodes import BOT as BOT
from .nodes import GROUP as GROUP
from .nodes import LITERAL as LITERAL
from .nodes import NO_PERSONA as NO_PERSONA
from .nodes import NOBODY as NOBODY
from .nodes import PREDICATES as PREDICATES
from .nodes import PRIVATE as PRIVATE
from .nodes import SINGLE_VALUED as SINGLE_VALUED
from .nodes import TASKS as TASKS
from .nodes import EntityType as EntityType
from .nodes import Layer as Layer
from .nodes import Status as Status
from .nodes import is_entity as is_entity
from .nodes import persona_id as persona_id
from .nodes import stable_id as stable_id
from .nodes import user_id as user_id
from .nodes import whole as whole
from .row import Basis as Basis
from .row import Change as Change
from .row import Data as Data
from .row import Gone as Gone
from .row import Op as Op
from .row import Row as Row
from .row import SessionRow as SessionRow
from .row import Span as Span
from .row import decode as decode
from .row import encode as encode
from .row import kind_named as kind_named
from .row import register as register
from .row import registered as registered
