#include "tilewright/report/page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --page: #ffffff; --card: #f5f6f8; --ink: #1c2126; --muted: #5d6770; --grid: #e1e5e9;
  --c0: #2b6cb0; --c1: #d97706; --c2: #2f855a; --c3: #b83280; --c4: #6b46c1; --c5: #0987a0; --c6: #975a16; --c7: #8a949e;
  --c8: #c53030; --c9: #5a7d0f; --c10: #3b4cc0; --c11: #a0527d; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181c; --card: #1e242a; --ink: #e6e9ec; --muted: #9aa5b0; --grid: #2f373f;
    --c0: #63a4e8; --c1: #f0a13a; --c2: #5cb985; --c3: #e87fb8; --c4: #a78bfa; --c5: #4cc3d9; --c6: #d0a05a; --c7: #7b8791;
    --c8: #f08080; --c9: #a3c653; --c10: #8fa2ff; --c11: #d9a0bf; } }
@media print {
  :root { color-scheme: light; --page: #ffffff; --card: #f5f6f8; --ink: #1c2126; --muted: #5d6770; --grid: #e1e5e9;
    --c0: #2b6cb0; --c1: #d97706; --c2: #2f855a; --c3: #b83280; --c4: #6b46c1; --c5: #0987a0; --c6: #975a16; --c7: #8a949e;
    --c8: #c53030; --c9: #5a7d0f; --c10: #3b4cc0; --c11: #a0527d; }
  body { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  svg, tr, .figures div, .note { break-inside: avoid; }
  h2 { break-after: avoid; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px 24px 48px; max-width: 1060px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 24px; line-height: 1.25; margin: 0; }
h2 { font-size: 17px; margin: 36px 0 8px; }
p { margin: 4px 0; }
a { color: inherit; text-decoration-color: var(--muted); text-underline-offset: 3px; }
.muted { color: var(--muted); }
.note { background: var(--card); border-left: 4px solid var(--c1); padding: 8px 14px; margin: 14px 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 12px; margin: 20px 0 0; }
.figures.three { grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); }
.figures div { background: var(--card); border-radius: 8px; padding: 12px 16px; }
.figures b { display: block; font-size: 27px; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums; }
.plot { width: 100%; height: auto; display: block; }
.plot text { fill: var(--muted); font-size: 12px; }
.plot text.ink { fill: var(--ink); }
.plot text.on { fill: var(--page); }
.plot text.small { font-size: 11px; }
.plot .grid { stroke: var(--grid); }
.plot .mark { stroke: var(--muted); stroke-dasharray: 3 4; }
.plot .axis { stroke: var(--muted); }
.plot .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.plot .faint { stroke-width: 1; stroke-opacity: .55; }
.plot .band { fill: var(--c); fill-opacity: .13; }
.plot .interval { stroke: var(--c); stroke-width: 4; stroke-opacity: .4; stroke-linecap: round; }
.plot .dot { fill: var(--c); fill-opacity: 0; }
.plot .dot:hover, .plot .dot[r="3"], .plot .shown { fill-opacity: 1; }
.plot .frame { fill: none; stroke: var(--c); stroke-width: 2; }
.plot .cell:hover { stroke: var(--ink); }
.legend { margin: 2px 0 6px; font-size: 13px; color: var(--muted); }
.legend span { margin-right: 18px; white-space: nowrap; display: inline-block; }
i.chip { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
.scroll { overflow-x: auto; margin-top: 14px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--muted); vertical-align: bottom; }
th, td { padding: 4px 14px 4px 0; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
td.n, th.n { text-align: right; }
td.wide { white-space: normal; overflow-wrap: anywhere; }
.loss { color: var(--c8); font-weight: 700; }
@media (max-width: 600px) {
  body { padding: 16px 12px 32px; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .figures b { font-size: 21px; }
  .plot text, .plot text.small { font-size: 20px; } }
.bar { display: inline-block; width: 64px; height: 9px; border-radius: 2px; background: var(--grid); overflow: hidden;
  vertical-align: 0; text-align: left; }
.bar i { display: block; height: 100%; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 0 36px;
  align-items: start; }
.episode { display: block; width: 100%; max-width: 460px; border-radius: 8px; }
.command { margin: 18px 0 8px; }
code, pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
code { overflow-wrap: anywhere; }
pre { background: var(--card); border-radius: 8px; padding: 10px 14px; margin: 8px 0; overflow-x: auto; }
details { border-bottom: 1px solid var(--grid); padding: 5px 0; }
summary { cursor: pointer; }
summary .muted { margin-left: 10px; font-size: 13px; }
)";

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; style-src 'unsafe-inline'; img-src "
      "data:\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n"
      "</html>\n",
      html_escaped(title), kStyle, body);
}

std::string figures(const std::vector<Figure>& figures) {
  // Rows of three where rows of four would leave a ragged end.
  const bool three = figures.size() % 4 != 0 && (figures.size() + 1) % 3 <= 1;
  std::string html = fmt::format("<div class=\"figures{}\">\n", three ? " three" : "");
  for (const Figure& figure : figures) {
    html += fmt::format("<div>{}<b>{}</b><span class=\"muted\">{}</span></div>\n", html_escaped(figure.name),
                        html_escaped(figure.value), html_escaped(figure.detail));
  }
  return html + "</div>\n";
}

std::string note(std::string_view text) { return fmt::format("<p class=\"note\">{}</p>\n", html_escaped(text)); }

std::string table(const std::vector<TableColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::string html = "<div class=\"scroll\"><table><thead><tr>";
  for (const TableColumn& column : columns) {
    html += fmt::format("<th{}{}>{}</th>", column.number ? " class=\"n\"" : "",
                        column.title.empty() ? "" : fmt::format(" title=\"{}\"", html_escaped(column.title)),
                        html_escaped(column.name));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += fmt::format("<td{}>{}</td>", columns[i].number ? " class=\"n\"" : "", row[i]);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string properties(const std::vector<std::pair<std::string, std::string>>& properties) {
  std::string html = "<div class=\"two\">\n";
  const std::size_t half = (properties.size() + 1) / 2;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    if (i == 0 || i == half) html += i == 0 ? "<table>\n" : "</table>\n<table>\n";
    html += fmt::format("<tr><td class=\"muted\">{}</td><td class=\"n wide\">{}</td></tr>\n",
                        html_escaped(properties[i].first), html_escaped(properties[i].second));
  }
  return html + (properties.empty() ? "</div>\n" : "</table>\n</div>\n");
}

std::string bar(double share, std::size_t colour) {
  return fmt::format("<span class=\"bar\"><i style=\"width:{:.1f}%;background:var(--c{})\"></i></span>",
                     100 * std::clamp(share, 0.0, 1.0), colour);
}

std::string chip(std::size_t colour) {
  return fmt::format("<i class=\"chip\" style=\"background:var(--c{})\"></i>", colour);
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (std::abs(value) >= 10'000 && std::abs(value) < 1e15) {
    return with_thousands(static_cast<std::int64_t>(std::llround(value)));
  }
  return fmt::format("{:.4g}", value);
}

std::string even_number(double value) {
  const double size = std::abs(value);
  if (size >= 1'000 || !std::isfinite(value)) return short_number(std::round(value));
  if (size > 0 && size < 0.01) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, size < 10 ? 3 : size < 100 ? 2 : 1);
}

std::string prefixed_number(double value) {
  return std::isfinite(value) && std::abs(value) >= 10'000 ? with_prefix(value) : short_number(value);
}

}  // namespace tilewright
