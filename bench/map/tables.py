"""Markdown from what comparisons have found."""

import math


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def factor(standing):
    """The factor of the best known, infinite when some layer has no valid mapping, nothing without a run."""
    if not standing or "factor" not in standing:
        return None
    value = standing["factor"]["value"]
    return math.inf if value is None else value


def contender(found, label):
    return next((one for one in found["contenders"] if one["label"] == label), None)


def standing(found, label, budget):
    one = contender(found, label)
    return next((entry for entry in one["standings"] if entry["budget"] == budget), None) if one else None


def reach(found, label, target):
    one = contender(found, label)
    return next((entry for entry in one["reaches"] if entry["target"] == target), None) if one else None


def interval(entry, digits=3):
    def text(value):
        return "∞" if value is None else f"{value:.{digits}f}"

    return f"{text(entry['value'])} [{text(entry['low'])}, {text(entry['high'])}]"


def samples(entry):
    """Median samples to a target, and the share of layers × seeds that get there."""
    if entry is None:
        return "–"
    value = entry["samples"]["value"]
    return f"{'not reached' if value is None else f'{value:,.0f}'} ({100 * entry['share']:.0f} %)"


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" if i == 0 else "---:" for i in range(len(head))) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def overall(results, labels, budget):
    """Geometric mean over cases of each contender's factor, infinite where one is."""
    means = {}
    for label in labels:
        values = [factor(standing(found, label, budget)) for found in results.values()]
        values = [value for value in values if value is not None]
        if values:
            means[label] = math.inf if math.inf in values else geometric_mean(values)
    return means


def against_first(results, labels, budget):
    """For each other contender: in how many cases the first one has the smaller factor, and the chance that it is better."""
    rows = {}
    for label in labels[1:]:
        better, wins, cases = 0, [], 0
        for found in results.values():
            mine, other = factor(standing(found, labels[0], budget)), standing(found, label, budget)
            theirs = factor(other)
            if mine is None or theirs is None:
                continue
            cases += 1
            better += mine < theirs
            wins.append(other["first_wins"]["value"])
        if cases:
            rows[label] = {"better": better, "cases": cases, "probability": sum(wins) / cases}
    return rows


def shortfalls(results, labels, budget):
    """Where another contender is ahead of the first one, worst first: (case, contender, by how much)."""
    found_ahead = []
    for name, found in results.items():
        mine = factor(standing(found, labels[0], budget))
        for label in labels[1:]:
            theirs = factor(standing(found, label, budget))
            if mine is not None and theirs is not None and theirs < mine:
                found_ahead.append((name, label, mine / theirs))
    return sorted(found_ahead, key=lambda entry: -entry[2])
