"""Records: what `dataclasses.dataclass` makes, made without generating code until a record is first used.

A start of the program defines some hundred records and uses few of them. A dataclass compiles six functions as it is
defined, which together took longer than everything else at the start. To type checkers this is the dataclass decorator.
"""

from typing import Any

__all__ = ["fields_of", "record"]


def fields_of(instance: Any) -> dict[str, Any]:
    """The fields of a record by their names, not copied; with it as `default`, `json.dumps` writes records."""
    return {name: getattr(instance, name) for name in instance.__dataclass_fields__}


TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import _FIELD, MISSING, Field, FrozenInstanceError, field
    from operator import attrgetter
    from reprlib import recursive_repr
    from types import SimpleNamespace

    _NO_DEFAULT = object()

    def record(
        cls=None, /, *, frozen=False, slots=False, kw_only=False, repr=True, eq=True, init=True, weakref_slot=False
    ):
        """Like `dataclass`, with the options this program uses."""

        def make(cls):
            own = _own_fields(cls, kw_only)
            fields = {}
            for base in reversed(cls.__mro__[1:]):
                fields.update(getattr(base, "__dataclass_fields__", None) or {})
            fields.update(own)
            if slots:
                cls = _with_slots(cls, own, weakref_slot)
            cls.__dataclass_fields__ = fields
            cls.__dataclass_params__ = SimpleNamespace(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr)
            cls.__match_args__ = tuple(name for name, one in fields.items() if one.init and not one.kw_only)
            if init and "__init__" not in cls.__dict__:
                cls.__init__ = _first_init(cls, frozen)
                cls.__signature__ = _Signature(cls)
            if repr and "__repr__" not in cls.__dict__:
                cls.__repr__ = _repr
            if eq:
                _compare(cls, fields, frozen)
            if frozen:
                cls.__setattr__, cls.__delattr__ = _refuse_setting, _refuse_deleting
                if slots:
                    cls.__getstate__, cls.__setstate__ = _state, _set_state
            return cls

        return make if cls is None else make(cls)

    def _own_fields(cls, kw_only):
        members = {}
        for name, kind in cls.__annotations__.items():
            if _is_class_variable(kind):
                continue
            default = cls.__dict__.get(name, MISSING)
            if isinstance(default, Field):
                value = default
                if value.default is MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, value.default)
            else:
                if isinstance(default, (list, dict, set)):
                    raise ValueError(f"mutable default {default!r} for field {name}: use default_factory")
                value = field(kw_only=kw_only) if default is MISSING else field(default=default, kw_only=kw_only)
            value.name, value.type, value._field_type = name, kind, _FIELD
            if value.kw_only is MISSING:
                value.kw_only = kw_only
            members[name] = value
        return members

    def _is_class_variable(kind):
        if isinstance(kind, str):
            return kind.startswith(("ClassVar", "typing.ClassVar"))
        from typing import ClassVar, get_origin

        return kind is ClassVar or get_origin(kind) is ClassVar

    def _with_slots(cls, own, weakref_slot):
        inherited = {name for base in cls.__mro__[1:-1] for name in getattr(base, "__slots__", ())}
        names = [name for name in own if name not in inherited]
        if weakref_slot:
            names.append("__weakref__")
        body = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
        for name in own:
            body.pop(name, None)
        texts = body["__slots__"] = _FieldTexts.fromkeys(names)
        new = texts.cls = type(cls)(cls.__name__, cls.__bases__, body)
        new.__qualname__ = cls.__qualname__
        return new

    class _FieldTexts(dict):
        """The names of the slots with what stands under each field in the source, read when `help` asks for it."""

        def __getitem__(self, name):
            if self.get(name) is None:
                self.update(_texts_under_fields(self.cls))
            return self.get(name)

    def _texts_under_fields(cls):
        import ast
        import inspect
        from itertools import pairwise
        from textwrap import dedent

        try:
            body = ast.parse(dedent(inspect.getsource(cls))).body[0].body
        except (OSError, SyntaxError):
            return {}
        pairs = pairwise(body)
        return {
            above.target.id: inspect.cleandoc(below.value.value)
            for above, below in pairs
            if isinstance(above, ast.AnnAssign)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        }

    class _Signature:
        """The signature that `help` and an editor show: the fields as parameters, put together when somebody asks."""

        def __init__(self, cls):
            self.cls = cls

        def __get__(self, instance, owner):
            if owner is not self.cls:
                raise AttributeError("a subclass has an `__init__` of its own, or a signature")
            from inspect import Parameter, Signature

            fields = [one for one in owner.__dataclass_fields__.values() if one.init]
            return Signature(
                [
                    Parameter(
                        one.name,
                        Parameter.KEYWORD_ONLY if one.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
                        annotation=one.type,
                        default=_shown_default(one, Parameter.empty),
                    )
                    for one in sorted(fields, key=lambda entry: entry.kw_only)
                ]
            )

    def _shown_default(one, none):
        if one.default_factory is not MISSING:
            kind = getattr(one.default_factory, "__origin__", one.default_factory)
            return kind() if kind in (dict, list, set, tuple) else ...
        return none if one.default is MISSING else one.default

    def _first_init(cls, frozen):
        """An `__init__` that makes the real one when the first record is made."""

        def __init__(self, *args, **given):
            cls.__init__ = _init(cls, frozen)
            return cls.__init__(self, *args, **given)

        return __init__

    def _init(cls, frozen):
        fields = [one for one in cls.__dataclass_fields__.values() if one.init]
        scope = {"_set": object.__setattr__, "_missing": _NO_DEFAULT}
        plain = [_parameter(one, scope) for one in fields if not one.kw_only]
        keyword = [_parameter(one, scope) for one in fields if one.kw_only]
        parameters = ", ".join(["self", *plain, *(["*", *keyword] if keyword else [])])
        body = [_assignment(one, frozen) for one in fields]
        for entry in cls.__dataclass_fields__.values():
            if not entry.init and (entry.default_factory is not MISSING or entry.default is not MISSING):
                scope[f"_factory_{entry.name}"] = entry.default_factory
                scope[f"_default_{entry.name}"] = entry.default
                value = f"_factory_{entry.name}()" if entry.default_factory is not MISSING else f"_default_{entry.name}"
                body.append(_stored(entry.name, value, frozen))
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        code = f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])
        exec(compile(code, f"<record {cls.__qualname__}>", "exec"), scope)  # noqa: S102 - our own fields, as in dataclasses
        init = scope["__init__"]
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        return init

    def _parameter(entry, scope):
        if entry.default_factory is not MISSING:
            scope[f"_factory_{entry.name}"] = entry.default_factory
            return f"{entry.name}=_missing"
        if entry.default is not MISSING:
            scope[f"_default_{entry.name}"] = entry.default
            return f"{entry.name}=_default_{entry.name}"
        return entry.name

    def _assignment(entry, frozen):
        value = entry.name
        if entry.default_factory is not MISSING:
            value = f"_factory_{entry.name}() if {entry.name} is _missing else {entry.name}"
        return _stored(entry.name, value, frozen)

    def _stored(name, value, frozen):
        return f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}"

    @recursive_repr()
    def _repr(self):
        values = (f"{one.name}={getattr(self, one.name)!r}" for one in self.__dataclass_fields__.values() if one.repr)
        return f"{type(self).__qualname__}({', '.join(values)})"

    def _compare(cls, fields, frozen):
        names = [one.name for one in fields.values() if one.compare]
        values = attrgetter(*names) if names else lambda _: ()

        def __eq__(self, other):
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        if "__eq__" not in cls.__dict__:
            cls.__eq__ = __eq__
        if "__hash__" not in cls.__dict__ or cls.__dict__["__hash__"] is None:
            cls.__hash__ = (lambda self: hash(values(self))) if frozen else None

    def _refuse_setting(self, name, _):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_deleting(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, name) for name in self.__dataclass_fields__]

    def _set_state(self, state):
        for name, value in zip(self.__dataclass_fields__, state, strict=True):
            object.__setattr__(self, name, value)
