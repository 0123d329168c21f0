"""Charts as plain SVG: axes (linear or logarithmic), lines with bands, stacked bars, labels. Nothing but text."""

import html
import math

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 44, 52
COLOURS = ("#1b6ca8", "#d1495b", "#edae49", "#2e8b57", "#7d5ba6", "#8d8d8d", "#e07b39", "#3d5a80")


def number(value):
    """A tick's label: 0.5, 20, 1,000, 20k."""
    if abs(value) >= 10_000 and value % 1000 == 0:
        return f"{value / 1000:,.0f}k"
    return f"{value:,.0f}" if abs(value) >= 1 or value == 0 else f"{value:g}"


class Scale:
    """Numbers to positions: linear, logarithmic, or evenly spaced names."""

    def __init__(self, low, high, first, last, log=False):
        self.low, self.high, self.first, self.last, self.log = low, high, first, last, log

    def __call__(self, value):
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.first + share * (self.last - self.first)

    def ticks(self):
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            return [10.0**power for power in powers if self.low <= 10.0**power <= self.high]
        step = 10 ** math.floor(math.log10((self.high - self.low) / 4))
        step = next(step * factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (step * factor) <= 7)
        first = math.ceil(self.low / step)
        return [step * k for k in range(first, math.floor(self.high / step) + 1)]


class Chart:
    def __init__(self, title, x_label, y_label, width=WIDTH):
        self.width, self.parts, self.legend = width, [], []
        self.right = width - RIGHT
        self.text(LEFT, 24, title, size=15, weight="bold")
        self.text((LEFT + self.right) / 2, HEIGHT - 12, x_label, anchor="middle")
        self.text(18, (TOP + HEIGHT - BOTTOM) / 2, y_label, anchor="middle", turned=True)

    def text(self, x, y, words, size=12, anchor="start", weight="normal", colour="#222", turned=False):
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
                          f'fill="{colour}"{turn}>{html.escape(str(words))}</text>')

    def line(self, points, colour, width=2.0, dashed=False):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')

    def band(self, points, colour):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polygon points="{path}" fill="{colour}" fill-opacity="0.18"/>')

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def y_axis(self, low, high, log=False):
        scale = Scale(low, high, HEIGHT - BOTTOM, TOP, log)
        for tick in scale.ticks():
            self.line([(LEFT, scale(tick)), (self.right, scale(tick))], "#ddd", 1)
            self.text(LEFT - 8, scale(tick) + 4, number(tick), anchor="end")
        return scale

    def x_axis(self, low, high, ticks=None, log=False):
        scale = Scale(low, high, LEFT, self.right, log)
        self.line([(LEFT, HEIGHT - BOTTOM), (self.right, HEIGHT - BOTTOM)], "#444", 1)
        for tick in ticks or scale.ticks():
            self.text(scale(tick), HEIGHT - BOTTOM + 18, number(tick), anchor="middle")
        return scale

    def name(self, words, colour, dashed=False):
        """One more line of the legend, to the right."""
        y = TOP + 12 + 20 * len(self.legend)
        self.legend.append(words)
        self.line([(self.right + 12, y - 4), (self.right + 32, y - 4)], colour, 4 if not dashed else 2, dashed)
        self.text(self.right + 38, y, words)

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {HEIGHT}" '
                f'font-family="Helvetica, Arial, sans-serif">\n<rect width="{self.width}" height="{HEIGHT}" fill="white"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")
