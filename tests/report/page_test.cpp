#include "tilewright/report/page.hpp"

#include "markup.hpp"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Markup, SaysWhatItCannotRead) {
  EXPECT_EQ(read_markup("<p>a &lt; b</p>").error, "");
  EXPECT_EQ(read_markup("<svg><line x1=\"0\"/></svg>").error, "");
  EXPECT_THAT(read_markup("<p>a < b</p>").error, HasSubstr("a bare '<'"));
  EXPECT_THAT(read_markup("<p>a & b</p>").error, HasSubstr("a bare '&'"));
  EXPECT_THAT(read_markup("<p><b>a</p></b>").error, HasSubstr("closes nothing"));
  EXPECT_THAT(read_markup("<p>a").error, HasSubstr("never closed"));
  EXPECT_THAT(read_markup("<p class=x>a</p>").error, HasSubstr("without a quoted value"));
  EXPECT_THAT(read_markup("<p a=\"1\" a=\"2\">a</p>").error, HasSubstr("given twice"));
}

TEST(Page, NeedsNothingElse) {
  const std::string html = page("a <b> & \"c\"", "<p>body</p>\n");
  const Markup markup = read_markup(html);
  EXPECT_EQ(markup.error, "");
  EXPECT_EQ(markup.count("script"), 0u);
  EXPECT_EQ(markup.count("link"), 0u);
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, HasSubstr("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>"));
  for (const char* outside : {"http:", "https:", "@import", "url("}) EXPECT_THAT(html, Not(HasSubstr(outside)));
  for (const char* form : {"prefers-color-scheme: dark", "@media print"}) EXPECT_THAT(html, HasSubstr(form));
}

TEST(Page, EveryColourIsThereLightDarkAndPrinted) {
  const std::string html = page("", "");
  for (std::size_t colour = 0; colour < kColourCount; ++colour) {
    const std::string name = "--c" + std::to_string(colour) + ": #";
    std::size_t found = 0;
    for (std::size_t at = html.find(name); at != std::string::npos; at = html.find(name, at + 1)) ++found;
    EXPECT_EQ(found, 3u) << name;
  }
}

TEST(Page, PartsEscapeTheirText) {
  const std::string evil = "<script>\"&'";
  for (const std::string& part : {figures({{evil, evil, evil}}), note(evil), properties({{evil, evil}, {evil, evil}}),
                                  table({{evil, false, evil}, {evil}}, {{html_escaped(evil), "1"}})}) {
    const Markup markup = read_markup(part);
    EXPECT_EQ(markup.error, "") << part;
    EXPECT_EQ(markup.count("script"), 0u);
    EXPECT_THAT(part, HasSubstr("&lt;script&gt;&quot;&amp;'"));
  }
  EXPECT_EQ(read_markup(properties({})).error, "");
}

TEST(Page, TilesAreInRowsWithoutRaggedEnds) {
  const auto three = [](std::size_t count) {
    return read_markup(figures(std::vector<Figure>(count))).count("div", "three") == 1;
  };
  EXPECT_TRUE(three(3));
  EXPECT_FALSE(three(4));
  EXPECT_TRUE(three(5));
  EXPECT_TRUE(three(6));
  EXPECT_FALSE(three(8));
  EXPECT_TRUE(three(9));
}

TEST(Page, NumbersAreShort) {
  EXPECT_EQ(short_number(0.123456), "0.1235");
  EXPECT_EQ(short_number(1'234'567), "1,234,567");
  EXPECT_EQ(short_number(-1e300), "-1e+300");
  EXPECT_EQ(prefixed_number(9'999), "9999");
  EXPECT_EQ(prefixed_number(2.443e15), "2.443 P");
  EXPECT_EQ(even_number(1), "1.000");
  EXPECT_EQ(even_number(12.3), "12.30");
  EXPECT_EQ(even_number(123.4567), "123.5");
  EXPECT_EQ(even_number(0.00012345), "0.000123");
}

TEST(Page, BarsStayInTheirCell) {
  EXPECT_THAT(bar(0.25, 3), HasSubstr("width:25.0%;background:var(--c3)"));
  EXPECT_THAT(bar(7, 0), HasSubstr("width:100.0%"));
  EXPECT_THAT(bar(-1, 0), HasSubstr("width:0.0%"));
}

}  // namespace
}  // namespace tilewright
