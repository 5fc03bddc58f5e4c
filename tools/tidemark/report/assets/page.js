"use strict";

(() => {
  const HEIGHT = 220;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const written = (value, unit) => {
    if (value == null) return "–";
    const text = value.toLocaleString("en", { maximumSignificantDigits: 5 });
    return unit === "%" ? text + " %" : text + (unit ? " " + unit : "");
  };

  const axis = (more) => ({
    stroke: () => colour("--faint"),
    grid: { stroke: () => colour("--line"), width: 1 },
    ticks: { stroke: () => colour("--line"), width: 1 },
    ...more,
  });

  /* Vertical lines for what happened at a time. */
  const drawMarks = (marks) => (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("--faint");
    ctx.font = 10 * devicePixelRatio + "px sans-serif";
    for (const [at, text] of marks) {
      const x = Math.round(u.valToPos(at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.fillRect(x, bbox.top, 1, bbox.height);
      ctx.fillText(text, x + 4, bbox.top + 10 * devicePixelRatio);
    }
    ctx.restore();
  };

  const lineOf = (chart) => (s) => ({
    label: s.label,
    stroke: s.colour,
    dash: s.dash,
    show: s.shown,
    width: 1.4,
    spanGaps: true,
    points: { show: false },
    paths: s.stepped ? uPlot.paths.stepped({ align: -1 }) : uPlot.paths.linear(),
    value: (u, value) => written(value, chart.unit),
  });

  const yScale = (chart) => {
    if (chart.log) return { distr: 3, range: (u, min, max) => uPlot.rangeLog(Math.max(min || 1, 1), max || 10, 10, true) };
    return { range: (u, min, max) => [0, max > 0 ? Math.min(max * 1.05, chart.unit === "%" ? 100 : Infinity) : 1] };
  };

  const options = (chart, width) => ({
    width,
    height: HEIGHT,
    cursor: { sync: { key: chart.group }, drag: { x: true, y: false } },
    legend: { markers: { dash: (u, at) => (u.series[at].dash?.length ? "dashed" : "solid") } },
    scales: { x: { time: false }, y: yScale(chart) },
    axes: [axis({ values: (u, ticks) => ticks.map((t) => t + " s") }), axis({ size: 64 })],
    series: [{ label: "time", value: (u, t) => (t == null ? "–" : t.toFixed(3) + " s") }, ...chart.series.map(lineOf(chart))],
    hooks: { draw: [drawMarks(chart.marks)] },
  });

  /* Runs are sampled at their own times: one table of all, with gaps that the lines span. A logarithm has no 0. */
  const joined = (chart, blocks) => {
    const data = uPlot.join(blocks);
    return chart.log ? data.map((c, at) => (at ? c.map((v) => (v == null ? v : Math.max(v, 0.9))) : c)) : data;
  };

  const menu = (chart, heading, choose) => {
    const select = document.createElement("select");
    select.setAttribute("aria-label", "process");
    for (const choice of chart.choices) select.add(new Option(choice.name));
    select.selectedIndex = chart.chosen;
    select.addEventListener("change", () => choose(chart.choices[select.selectedIndex].blocks));
    heading.append(select);
  };

  const make = (box) => {
    const chart = charts[box.dataset.chart];
    const heading = document.createElement("h3");
    heading.textContent = chart.title;
    box.append(heading);
    if (chart.unit) {
      const unit = document.createElement("span");
      unit.className = "unit";
      unit.textContent = ", " + chart.unit;
      heading.append(unit);
    }
    const place = document.createElement("div");
    box.append(place);
    const blocks = chart.choices ? chart.choices[chart.chosen].blocks : chart.blocks;
    const plot = new uPlot(options(chart, place.clientWidth || 600), joined(chart, blocks), place);
    if (chart.choices) menu(chart, heading, (chosen) => plot.setData(joined(chart, chosen)));
    new ResizeObserver(() => {
      if (place.clientWidth && place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: HEIGHT });
    }).observe(place);
    return plot;
  };

  const plots = [...document.querySelectorAll("[data-chart]")].map(make);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((plot) => plot.redraw()));
})();
