"""Views are kept, shared among askers who see the same, and never stale."""

from __future__ import annotations

from graph_memory.model import Presence, Session, asker_of
from graph_memory.recall.index import Index
from graph_memory.recall.views import Views
from graph_memory.scope import Attendance, Policy
from tests.makers import T0, group, private, user

GROUP = group("9")


def views_of(*sessions: Session) -> Views:
    views = Views(Policy(), Attendance())
    views.learn(sessions)
    return views


def test_members_of_a_group_share_what_they_see() -> None:
    views = views_of(GROUP, private("1"), private("2"))
    first, second = (views.of(asker_of(GROUP, user(number))) for number in "12")
    assert first is second
    assert set(first) == {GROUP.id}
    index = Index()
    assert index.look(first) is index.look(second)
    assert views.of(asker_of(private("1"), user("1"))) is not first


def test_who_comes_to_a_group_sees_it_from_then_on() -> None:
    views = views_of(GROUP, private("1"))
    asker = asker_of(private("1"), user("1"))
    assert GROUP.id not in views.of(asker)
    views.follow(Presence(GROUP.circle, user("1"), T0))
    assert views.of(asker)[GROUP.id].windows[0][0] == T0


def test_views_are_kept_for_so_many_askers_only() -> None:
    homes = [private(str(number)) for number in range(600)]
    views = views_of(*homes)
    askers = [asker_of(home, home.owner) for home in homes]
    assert [set(views.of(asker)) for asker in askers] == [{home.id} for home in homes]
    assert len(views._known) == 256
