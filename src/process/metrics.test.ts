import { describe, expect, it } from "vitest";
import { createHistogram, family, histogramFamily, observe } from "./metrics.ts";

describe("metrics as text", () => {
  it("print a family without labels, and escape labels", () => {
    expect(family("moor_x_total", "counter", "Things.", [[{}, 3]])).toBe(
      "# HELP moor_x_total Things.\n# TYPE moor_x_total counter\nmoor_x_total 3\n",
    );
    expect(family("moor_y", "gauge", "Y.", [[{ a: 'q"\\\n', b: "c" }, 1]])).toContain(
      'moor_y{a="q\\"\\\\\\n",b="c"} 1\n',
    );
  });

  it("print a histogram with the number of values up to and including each bound, and the total", () => {
    const histogram = createHistogram([0.1, 1]);
    for (const seconds of [0.05, 0.1, 0.5, 2]) observe(histogram, seconds);
    expect(histogramFamily("moor_h_seconds", "How long.", [[{ route: "/x" }, histogram]])).toBe(
      [
        "# HELP moor_h_seconds How long.",
        "# TYPE moor_h_seconds histogram",
        'moor_h_seconds_bucket{route="/x",le="0.1"} 2',
        'moor_h_seconds_bucket{route="/x",le="1"} 3',
        'moor_h_seconds_bucket{route="/x",le="+Inf"} 4',
        'moor_h_seconds_sum{route="/x"} 2.65',
        'moor_h_seconds_count{route="/x"} 4',
        "",
      ].join("\n"),
    );
  });
});
