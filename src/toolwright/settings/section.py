"""A record of settings: frozen, with keywords and defaults like a dataclass, but made without generating code.

Every start of the program makes all of these classes, and a dataclass each would take longer than all the rest of it.
"""

from typing import Any, ClassVar, NoReturn, dataclass_transform


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Section:
    """The base of the records of settings. Their annotations are their fields, in order."""

    names: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.names = tuple(cls.__annotations__)
        cls.defaults = {name: cls.__dict__[name] for name in cls.names if name in cls.__dict__}

    def __init__(self, **given: Any) -> None:
        unknown = given.keys() - set(self.names)
        missing = [name for name in self.names if name not in given and name not in self.defaults]
        if unknown or missing:
            raise TypeError(f"{type(self).__name__} has no {sorted(unknown)} and needs {missing}")
        self.__dict__.update(self.defaults)
        self.__dict__.update(given)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} is not to be changed: settings are read once")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__}.{name} is not to be changed: settings are read once")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return id(type(self))

    def __repr__(self) -> str:
        fields = (f"{name}={value!r}" for name, value in self.__dict__.items() if value != self.defaults.get(name))
        return f"{type(self).__name__}({', '.join(fields)})"
