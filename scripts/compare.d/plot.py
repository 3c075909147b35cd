"""Draws plots as SVG, readable on light and on dark pages."""

import html
import math

WIDTH = 860
LABELS = 400
ROW = 22
COLOURS = ["#2f7de1", "#d9822b", "#2e9e6b", "#b04fc4", "#c23b3b", "#7a7f87"]
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #222 } .small { font-size: 11px; fill: #555 }
.grid { stroke: #8884; stroke-width: 1 } .one { stroke: #888; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .small { fill: #aaa } }
</style>"""


def text(x, y, value, anchor="start", small=False):
    kind = ' class="small"' if small else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{html.escape(value)}</text>'


def line(x1, y1, x2, y2, kind="grid"):
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def svg(height, title, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{html.escape(title)}</title>", STYLE, *parts, "</svg>", ""])


def ticks(low, high):
    """1, 2 and 5 of each decade from `low` to `high`."""
    found = [m * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)]
    return [tick for tick in found if low <= tick * 1.0001 and tick <= high * 1.0001]


def legend(names):
    """The legend at the top, and its height."""
    parts, x, y = [], 12, 22
    for index, name in enumerate(names):
        width = 36 + 8 * len(name)
        if x > 12 and x + width > WIDTH:
            x, y = 12, y + ROW
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{COLOURS[index % len(COLOURS)]}"/>')
        parts.append(text(x + 18, y, name))
        x += width
    return parts, y


def ratios(rows, peers):
    """A bar for each figure and peer. To the right of the line at 1 Backscroll is better, to the left the peer."""
    values = [ratio for *_, ratios in rows for ratio in ratios.values() if ratio]
    low, high = min([0.5, *values]) / 1.15, max([2, *values]) * 1.3
    place = lambda v: LABELS + (WIDTH - LABELS - 20) * math.log(v / low) / math.log(high / low)
    parts, end = legend([f"Backscroll against {peer}" for peer in peers])
    y = end + ROW
    bars = []
    for scenario, label, unit, _, found in rows:
        if not any(found.values()):
            continue
        if label:
            bars.append(text(12, y + 14, f"{scenario}: {label}"))
            y += ROW
        bars.append(text(LABELS - 10, y + 14, unit, "end", small=True))
        for index, peer in enumerate(peers):
            if not found[peer]:
                continue
            x1, x2 = sorted((place(1), place(found[peer])))
            height = (ROW - 6) / len(peers)
            top = y + 3 + index * height
            bars.append(f'<rect x="{x1:.1f}" y="{top:.1f}" width="{max(x2 - x1, 1):.1f}" height="{height:.1f}" '
                        f'fill="{COLOURS[index % len(COLOURS)]}"/>')
            if len(peers) == 1:
                bars.append(text(place(found[peer]) + (4 if found[peer] >= 1 else -4), y + 15, f"{found[peer]:.2g}×",
                                 "start" if found[peer] >= 1 else "end", small=True))
        y += ROW
    grid = []
    for tick in ticks(low, high):
        grid.append(line(place(tick), end + 14, place(tick), y, "one" if tick == 1 else "grid"))
        grid.append(text(place(tick), y + 16, f"{tick:g}×", "middle", small=True))
    return svg(y + 28, "How many times better Backscroll is, by figure", parts + grid + bars)


def curve(series):
    """p50 (dashed) and p99 of each server against the offered rate, both axes logarithmic."""
    points = [(rate, value) for found in series.values() for rate, *both in found for value in both if value]
    if not points:
        return svg(40, "Nothing was held", [text(12, 24, "No rate was held.")])
    parts, end = legend(series)
    left, right, top, bottom = 60, WIDTH - 20, end + 28, end + 408
    rates, values = [rate for rate, _ in points], [value for _, value in points]
    x_low, x_high = min(rates) / 1.1, max(rates) * 1.1
    y_low, y_high = min(values) / 1.3, max(values) * 1.3
    x = lambda v: left + (right - left) * math.log(v / x_low) / math.log(x_high / x_low)
    y = lambda v: bottom - (bottom - top) * math.log(v / y_low) / math.log(y_high / y_low)
    for tick in sorted(set(rates)):
        parts += [line(x(tick), top, x(tick), bottom), text(x(tick), bottom + 16, f"{tick:,}", "middle", small=True)]
    for tick in ticks(y_low, y_high):
        parts += [line(left, y(tick), right, y(tick)), text(left - 6, y(tick) + 4, f"{tick:g}", "end", small=True)]
    parts.append(text(left, top - 8, "ms from due to delivered: p99, and p50 dashed", small=True))
    parts.append(text(right, bottom + 34, "messages a second", "end", small=True))
    for index, found in enumerate(series.values()):
        for which, dash in ((1, ' stroke-dasharray="5 4"'), (2, "")):
            path = " ".join(f"{x(point[0]):.1f},{y(point[which]):.1f}" for point in found if point[which])
            parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[index % len(COLOURS)]}" '
                         f'stroke-width="2"{dash}/>')
    return svg(bottom + 46, "Latency of delivery by offered rate", parts)
