"""What an attack is: a function that returns how it ended, or raises `Succeeded`."""

from typing import Callable, NamedTuple

REFUSED = "refused"  # The attacker gets an error, and nothing has happened.
BOUNDED = "bounded"  # Something happens, up to a limit, and others go on.
HARMLESS = "harmless"  # It is allowed, and gains nothing.
ATTACKS = []


class Attack(NamedTuple):
    point: str
    name: str
    run: Callable


class Succeeded(Exception):
    """What the attacker has got."""


def attack(point, name):
    def register(run):
        ATTACKS.append(Attack(str(point), name, run))
        return run

    return register


def expect(condition, otherwise):
    if not condition:
        raise Succeeded(otherwise)
