"""Compiled loops, reached through `apportion.allocation.compiled.kernels`: importing numba takes time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def _compile(function: Any) -> Any:
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to write the cache: compile anew in each process
        return njit(nogil=True)(function)


@_compile
def tally(drawn: NDArray[np.uint32], counts: NDArray[np.float64]) -> None:
    """Add one to counts[r, drawn[r, i]] for every r and i."""
    for r in range(drawn.shape[0]):
        row = counts[r]
        for i in range(drawn.shape[1]):
            row[drawn[r, i]] += 1.0


@_compile
def still_fitting(weights: NDArray[np.int64], order: NDArray[np.int64], left: int) -> NDArray[np.int64]:
    """Compiled form of `apportion.allocation.knapsack.still_fitting`."""
    fitted, m = np.empty(order.shape[0], dtype=np.int64), 0
    for at in order:
        if weights[at] <= left:
            left -= weights[at]
            fitted[m] = at
            m += 1
    return fitted[:m]


@_compile
def best_swap(
    gains: NDArray[np.float64],
    weights: NDArray[np.int64],
    out: NDArray[np.int64],
    into: NDArray[np.int64],
    slack: int,
) -> Any:
    """Compiled form of `apportion.allocation.knapsack.best_swap`: the place of the best pair, and its gain."""
    out_gain, out_weight = np.zeros(out.shape[0]), np.zeros(out.shape[0], dtype=np.int64)
    into_gain, into_weight = np.zeros(into.shape[0]), np.zeros(into.shape[0], dtype=np.int64)
    for side, gain, weight in ((out, out_gain, out_weight), (into, into_gain, into_weight)):
        for i in range(side.shape[0]):
            first, second = side[i]
            if first >= 0:
                gain[i] += gains[first]
                weight[i] += weights[first]
            if second >= 0:
                gain[i] += gains[second]
                weight[i] += weights[second]
    best, at_out, at_in = -np.inf, 0, 0
    for i in range(out.shape[0]):
        for j in range(into.shape[0]):
            better = into_gain[j] - out_gain[i]
            if better > best and into_weight[j] - out_weight[i] <= slack:
                best, at_out, at_in = better, i, j
    return best, at_out, at_in


@_compile
def arrange(
    item: NDArray[np.int64], weight: NDArray[np.int64], gain: NDArray[np.float64], price: float
) -> Any:
    """Compiled form of `apportion.allocation.core.arrange`."""
    m = item.shape[0]
    rate, distance = np.empty(m), np.empty(m)
    for i in range(m):
        rate[i] = gain[i] / (weight[i] if weight[i] != 0 else 1)
        distance[i] = np.abs(rate[i] - price) if weight[i] != 0 else np.inf
    by_item = np.argsort(distance, kind="mergesort")
    by_item = by_item[np.argsort(item[by_item], kind="mergesort")]
    nearest = np.empty(m)
    for i in range(m):
        at = by_item[i]
        first = i == 0 or item[by_item[i - 1]] != item[at]
        nearest[i] = distance[at] if first else nearest[i - 1]
    order = by_item[np.argsort(nearest, kind="mergesort")]
    start, stages = np.empty(m + 1, dtype=np.int64), 0
    for i in range(m):
        if i == 0 or item[order[i]] != item[order[i - 1]]:
            start[stages] = i
            stages += 1
    start[stages] = m
    up, down = np.zeros(stages), np.full(stages, np.inf)
    best_up, best_down = 0.0, np.inf
    for stage in range(stages - 1, -1, -1):
        up[stage], down[stage] = best_up, best_down
        for i in range(start[stage], start[stage + 1]):
            at = order[i]
            if weight[at] > 0:
                best_up = max(best_up, rate[at])
            elif weight[at] < 0:
                best_down = min(best_down, rate[at])
    return order, start[: stages + 1], up, down


@_compile
def grow_core(
    start: NDArray[np.int64],
    extra_weight: NDArray[np.int64],
    extra_gain: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    slack: int,
    floor: float,
    margin: float,
    most: int,
) -> Any:
    """Compiled form of `apportion.allocation.core.grow_core`, which says what it does."""
    weights = np.zeros(1, dtype=np.int64)
    gains = np.zeros(1)
    nodes = np.full(1, -1, dtype=np.int64)
    parent = np.empty(1024, dtype=np.int64)
    made_by = np.empty(1024, dtype=np.int64)
    used = 0
    best, best_node, ceiling = floor, -2, floor
    for stage in range(start.shape[0] - 1):
        first, last = start[stage], start[stage + 1]
        size = weights.shape[0]
        kept_weights, kept_gains, kept_nodes, kept_moves = (
            weights,
            gains,
            nodes,
            np.full(size, -1, dtype=np.int64),
        )
        for move in range(first, last):
            # Merge what is kept with every old state shifted by this move; lighter and better states dominate.
            room = kept_weights.shape[0] + size
            new_weights = np.empty(room, dtype=np.int64)
            new_gains = np.empty(room)
            new_nodes = np.empty(room, dtype=np.int64)
            new_moves = np.empty(room, dtype=np.int64)
            a, b, out = 0, 0, 0
            weight, gain = np.int64(0), 0.0
            while a < kept_weights.shape[0] or b < size:
                if b < size:
                    weight = weights[b] + extra_weight[move]
                    gain = gains[b] + extra_gain[move]
                if b == size or (
                    a < kept_weights.shape[0]
                    and (kept_weights[a] < weight or (kept_weights[a] == weight and kept_gains[a] >= gain))
                ):
                    if out == 0 or kept_gains[a] > new_gains[out - 1]:
                        new_weights[out] = kept_weights[a]
                        new_gains[out] = kept_gains[a]
                        new_nodes[out] = kept_nodes[a]
                        new_moves[out] = kept_moves[a]
                        out += 1
                    a += 1
                else:
                    if out == 0 or gain > new_gains[out - 1]:
                        new_weights[out] = weight
                        new_gains[out] = gain
                        new_nodes[out] = nodes[b]
                        new_moves[out] = move
                        out += 1
                    b += 1
            kept_weights, kept_gains = new_weights[:out], new_gains[:out]
            kept_nodes, kept_moves = new_nodes[:out], new_moves[:out]
        top = np.searchsorted(kept_weights, slack, side="right") - 1
        best_at = np.int64(-1)
        if top >= 0 and kept_gains[top] > best:
            best = kept_gains[top]
            best_at = top
        out = 0
        highest = best
        for s in range(kept_weights.shape[0]):
            spare = slack - kept_weights[s]
            bound = kept_gains[s] + spare * (up[stage] if spare >= 0 else down[stage])
            keep = bound > best + margin
            if keep or s == best_at:
                node = kept_nodes[s]
                if kept_moves[s] >= 0:
                    if used == parent.shape[0]:
                        parent = np.concatenate((parent, np.empty_like(parent)))
                        made_by = np.concatenate((made_by, np.empty_like(made_by)))
                    parent[used] = node
                    made_by[used] = kept_moves[s]
                    node = used
                    used += 1
                if s == best_at:
                    best_node = node
                if keep:
                    highest = max(highest, bound)
                    kept_weights[out] = kept_weights[s]
                    kept_gains[out] = kept_gains[s]
                    kept_nodes[out] = node
                    out += 1
        weights, gains, nodes = kept_weights[:out].copy(), kept_gains[:out].copy(), kept_nodes[:out].copy()
        if out == 0:
            break
        if used > most:
            ceiling = highest
            break
    return best, best_node, max(ceiling, best), parent[:used], made_by[:used]


@_compile
def _hull(gains, costs, order, hull_gain, hull_cost, hull_arm, slopes):  # type: ignore[no-untyped-def]
    """Fill the upper-left hull of one item's arms and return its number of steps."""
    k = gains.shape[0]
    for a in range(k):  # by cost (below zero is zero), then gain descending, raw cost, arm
        at = a
        while at > 0:
            other = order[at - 1]
            mine, theirs = max(costs[a], 0.0), max(costs[other], 0.0)
            if mine > theirs:
                break
            if mine == theirs:
                if gains[a] < gains[other]:
                    break
                if gains[a] == gains[other] and costs[a] >= costs[other]:
                    break
            order[at] = other
            at -= 1
        order[at] = a
    top = 0
    hull_gain[0], hull_cost[0], hull_arm[0], slopes[0] = 0.0, 0.0, 0, np.inf
    for at in range(k):
        a = order[at]
        gain, cost = gains[a], max(costs[a], 0.0)
        if gain <= hull_gain[top] and not (top == 0 and gain == 0.0 and costs[a] < 0.0):
            continue
        slope = 0.0
        while True:
            rise, run = gain - hull_gain[top], cost - hull_cost[top]
            slope = rise / run if run > 0.0 else np.inf
            if top > 0 and slope >= slopes[top]:
                top -= 1
            else:
                break
        top += 1
        hull_gain[top], hull_cost[top], hull_arm[top], slopes[top] = gain, cost, a + 1, slope
    return top


@_compile
def write_hull_steps(
    gains: NDArray[np.float64],
    costs: NDArray[np.float64],
    item: NDArray[np.int32],
    arm: NDArray[np.int16],
    gain: NDArray[np.float64],
    cost: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> int:
    """Write every item's hull steps, item by item, and return how many there are."""
    n, k = gains.shape
    order = np.empty(k, dtype=np.int64)
    hull_gain, hull_cost, hull_arm = np.empty(k + 1), np.empty(k + 1), np.empty(k + 1, dtype=np.int64)
    slopes = np.empty(k + 1)
    at = 0
    for i in range(n):
        steps = _hull(gains[i], costs[i], order, hull_gain, hull_cost, hull_arm, slopes)
        for s in range(1, steps + 1):
            item[at] = i
            arm[at] = hull_arm[s]
            gain[at] = hull_gain[s] - hull_gain[s - 1]
            cost[at] = hull_cost[s] - hull_cost[s - 1]
            slope[at] = slopes[s]
            at += 1
    return at


@_compile
def first_fit_runs(costs: NDArray[np.int64], sums: NDArray[np.int64], budgets: NDArray[np.int64]) -> Any:
    """Compiled form of `apportion.allocation.many_budgets.first_fit_runs`, by a tree of least costs."""
    m = costs.shape[0]
    leaves = 1
    while leaves < m:
        leaves *= 2
    tree = np.full(2 * leaves, np.iinfo(np.int64).max, dtype=np.int64)
    tree[leaves : leaves + m] = costs
    for node in range(leaves - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])
    offsets = np.zeros(budgets.shape[0] + 1, dtype=np.int64)
    starts, ends = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int64)
    used = 0
    for b in range(budgets.shape[0]):
        left, at = budgets[b], 0
        while at < m:
            if costs[at] > left:
                # Climb until a subtree to the right holds a cost that fits, then go down to its first.
                node = leaves + at
                while node > 1 and (node & 1 or tree[node + 1] > left):
                    node >>= 1
                if node <= 1:
                    break
                node += 1
                while node < leaves:
                    node *= 2
                    if tree[node] > left:
                        node += 1
                at = node - leaves
            # Gallop, then halve, to the end of the run that fits.
            limit = sums[at] + left
            low, step = at + 1, 1
            while low + step <= m and sums[low + step] <= limit:
                low += step
                step *= 2
            high = min(low + step, m + 1)
            while high - low > 1:
                middle = (low + high) // 2
                if sums[middle] <= limit:
                    low = middle
                else:
                    high = middle
            if used == starts.shape[0]:
                starts = np.concatenate((starts, np.empty_like(starts)))
                ends = np.concatenate((ends, np.empty_like(ends)))
            starts[used], ends[used] = at, low
            used += 1
            left -= sums[low] - sums[at]
            at = low
        offsets[b + 1] = used
    return offsets, starts[:used], ends[:used]


@_compile
def stream_weights(
    groups: NDArray[np.int32],
    cost: NDArray[np.float64],
    gain: NDArray[np.float64],
    counts: NDArray[Any],
    levels: NDArray[np.float64],
    block: int,
    found: NDArray[np.float64],
) -> None:
    """Compiled form of `apportion.evaluation.bootstrap_path.stream_weights`: checkpoints, then a second look."""
    steps, replicates = groups.shape[0], counts.shape[1]
    blocks = (steps + block - 1) // block
    spend, value = np.zeros(replicates), np.zeros(replicates)
    spends, values = np.zeros((blocks + 1, replicates)), np.zeros((blocks + 1, replicates))
    for b in range(blocks):
        for t in range(b * block, min((b + 1) * block, steps)):
            row, c, g = counts[groups[t]], cost[t], gain[t]
            for r in range(replicates):
                spend[r] += row[r] * c
                value[r] += row[r] * g
        spends[b + 1] = spend
        values[b + 1] = value
    for r in range(replicates):
        b = 0
        at, s, v = 0, 0.0, 0.0
        for j in range(levels.shape[1]):
            level = levels[r, j]
            moved = False
            while b < blocks and spends[b + 1, r] <= level:
                b += 1
                moved = True
            if moved:
                at, s, v = b * block, spends[b, r], values[b, r]
            if b == blocks:
                found[r, j] = values[blocks, r]
                continue
            while True:
                more = counts[groups[at], r] * cost[at]
                if s + more > level:
                    break
                s += more
                v += counts[groups[at], r] * gain[at]
                at += 1
            found[r, j] = v + (level - s) / more * (counts[groups[at], r] * gain[at])
