"""The bus: everybody hears everything, in order, until they have had enough."""

from toolwright.events import Bus, Event, FileEdited

EVENT = FileEdited(file="a.txt")


def test_listeners_hear_in_the_order_they_came() -> None:
    bus, heard = Bus(), list[str]()
    bus.subscribe(lambda event: heard.append(f"one {event.type}"))
    bus.subscribe(lambda event: heard.append(f"two {event.type}"))
    bus.publish(EVENT)
    assert heard == ["one file.edited", "two file.edited"]


def test_one_who_leaves_hears_no_more_and_may_leave_in_the_middle() -> None:
    bus, heard = Bus(), list[str]()

    def once(event: Event) -> None:
        heard.append("once")
        leave()

    leave = bus.subscribe(once)
    bus.subscribe(lambda _: heard.append("always"))
    bus.publish(EVENT)
    bus.publish(EVENT)
    assert heard == ["once", "always", "always"]
