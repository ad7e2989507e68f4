"""Saltelli's design for Sobol indices of the model itself (Saltelli et al., 2010): n (k + 2) points for n asked.

A, then B, then for each of k groups of parameters A with the columns of the group from B. A and B are halves of one
scrambled Sobol sequence of twice the dimension. A group is a parameter, a tensor with all its components, or what the
option `groups` puts together: `groups="centre=x,y,z; inertia=gyration"`. `percuss sensitivity` on its campaign knows
what to do with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from percuss.designs.design import Points, Request, sources
from percuss.designs.registry import GROUPS, check_size, count, no_skip
from percuss.designs.sobol import scrambled_sobol
from percuss.settings import table_of
from percuss.study.study import Parameter

OPTIONS = table_of(GROUPS)


def points(request: Request) -> Points:
    """Return the blocks one after the other."""
    import numpy as np

    no_skip(request, "saltelli")
    n, d = count(request, "saltelli"), len(request.parameters)
    groups = groups_of(request.parameters, request.options)
    check_size([n, len(groups) + 2], d)
    drawn = np.clip(scrambled_sobol(2 * d, 0, n, np.random.default_rng(request.seed)), 2.0**-53, 1.0 - 2.0**-53)
    a, b = drawn[:, :d], drawn[:, d:]
    blocks = [a, b]
    for columns in groups.values():
        block = a.copy()
        block[:, columns] = b[:, columns]
        blocks.append(block)
    return Points(np.concatenate(blocks))


def groups_of(parameters: Sequence[Parameter], options: Mapping[str, object]) -> dict[str, list[int]]:
    """Columns of each group, in the order of the blocks: those asked for, then what they leave, source by source."""
    asked = options.get("groups")
    assert asked is None or isinstance(asked, Mapping)
    places = {parameter.name: column for column, parameter in enumerate(parameters)}
    members = {group: [places[name] for name in names] for group, names in (asked or {}).items()}
    taken = {column for columns in members.values() for column in columns}
    rest = {source: columns for source, columns in sources(parameters).items() if columns[0] not in taken}
    return members | rest
