"use strict";

(() => {
  const HEIGHT = 200, TALL = 320;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const plots = new Map(); // by box
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  /* Black ink is the ground at night. */
  const ink = (hex) => (hex === "#222222" ? colour("--text") : hex);

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

  const inside = (u, x) => x >= u.bbox.left && x <= u.bbox.left + u.bbox.width;

  /* The ground where the machine thrashed. */
  const drawSpells = (spells) => (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.fillStyle = colour("--shade");
    for (const [begin, end] of spells) {
      const left = Math.max(u.valToPos(begin, "x", true), bbox.left);
      const right = Math.min(u.valToPos(end, "x", true), bbox.left + bbox.width);
      if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.restore();
  };

  /* Vertical lines for what happened at a time; and how far a line goes that the axis cuts off. */
  const drawMarks = (chart) => (u) => {
    const { ctx, bbox } = u, dot = devicePixelRatio;
    ctx.save();
    ctx.fillStyle = colour("--faint");
    ctx.font = 10 * dot + "px sans-serif";
    for (const [at, text] of chart.marks) {
      const x = Math.round(u.valToPos(at, "x", true));
      if (!inside(u, x)) continue;
      ctx.fillRect(x, bbox.top, 1, bbox.height);
      ctx.fillText(text, x + 4 * dot, bbox.top + 10 * dot);
    }
    if (chart.most) {
      ctx.textAlign = "right";
      ctx.fillText("▲ up to " + written(chart.most, chart.unit), bbox.left + bbox.width, bbox.top + 10 * dot);
    }
    ctx.restore();
  };

  /* Who ended (▼), was held back (◀), was admitted (▶): signs at the top edge, with their text where there is room. */
  const SIGNS = { exit: ["▼", "--text"], suspended: ["◀", "--vermilion"], admitted: ["▶", "--green"] };
  const drawTurns = (turns) => (u) => {
    const { ctx, bbox } = u, dot = devicePixelRatio;
    ctx.save();
    ctx.font = 10 * dot + "px sans-serif";
    let free = -Infinity;
    for (const [at, kind, text] of turns) {
      const x = u.valToPos(at, "x", true);
      if (!inside(u, x)) continue;
      ctx.fillStyle = colour(SIGNS[kind][1]);
      ctx.textAlign = "center";
      ctx.fillText(SIGNS[kind][0], x, bbox.top + 9 * dot);
      if (x < free) continue;
      free = x + 12 * dot;
      ctx.save();
      ctx.translate(x + 4 * dot, bbox.top + 13 * dot);
      ctx.rotate(Math.PI / 2);
      ctx.textAlign = "left";
      ctx.fillText(text, 0, 4 * dot);
      ctx.restore();
    }
    ctx.restore();
  };

  const lineOf = (chart, shown) => (s, at) => {
    const area = at < (chart.stack || 0);
    return {
      label: s.label || "value",
      stroke: () => (area ? colour("--card") : ink(s.colour)),
      fill: area ? s.colour : undefined,
      dash: s.dash,
      show: s.shown,
      width: area ? 0.5 : 1.4,
      spanGaps: true,
      points: { show: false },
      paths: s.stepped || chart.stack ? uPlot.paths.stepped({ align: chart.stack ? 1 : -1 }) : uPlot.paths.linear(),
      value: (u, value, nr, index) => written(index == null || !chart.stack ? value : shown.data[nr][index], chart.unit),
    };
  };

  const yScale = (chart) => {
    if (chart.log) return { distr: 3, range: (u, min, max) => uPlot.rangeLog(Math.max(min || 1, 1), max || 10, 10, true) };
    return { range: (u, min, max) => [0, chart.top ?? (max > 0 ? max * (chart.turns ? 1.25 : 1.05) : 1)] };
  };

  /* All charts of a group begin at 0 and end together; a stretch that was dragged over is shown as it is. */
  const xRange = (chart) => (u, min, max) => (min === u.data[0][0] && max === u.data[0].at(-1) ? [0, chart.end] : [min, max]);

  const options = (chart, shown, width) => ({
    width,
    height: chart.tall ? TALL : HEIGHT,
    cursor: { sync: { key: chart.group }, drag: { x: true, y: false } },
    legend: { markers: { dash: (u, at) => (u.series[at].dash?.length ? "dashed" : "solid"), fill: (u, at) => u.series[at].fill?.(u, at) } },
    scales: { x: { time: false, range: xRange(chart) }, y: yScale(chart) },
    axes: [axis({ values: (u, ticks) => ticks.map((t) => t + " s") }), axis({ size: 64 })],
    series: [{ label: "time", value: (u, t) => (t == null ? "–" : t.toFixed(3) + " s") }, ...order(chart, chart.series).map(lineOf(chart, shown))],
    hooks: { drawAxes: [drawSpells(chart.spells)], draw: [drawMarks(chart), drawTurns(chart.turns || [])] },
  });

  /* Of what is stacked the highest is drawn first, and the others over it. */
  const order = (chart, list) => {
    const n = chart.stack || 0;
    return [...list.slice(0, n).reverse(), ...list.slice(n)];
  };

  /* Runs are sampled at their own times: one table of all, with gaps that the lines span. A logarithm has no 0. */
  const joined = (chart, blocks, shown) => {
    const [time, ...columns] = uPlot.join(blocks);
    if (chart.log) return [time, ...columns.map((c) => c.map((v) => (v == null ? v : Math.max(v, 0.9))))];
    shown.data = [time, ...order(chart, columns)];
    const n = chart.stack || 0, sums = [];
    for (let at = 0; at < n; at++) sums.push(columns[at].map((v, t) => (v || 0) + (at ? sums[at - 1][t] : 0)));
    return [time, ...order(chart, [...sums, ...columns.slice(n)])];
  };

  const menu = (chart, heading, choose) => {
    const select = document.createElement("select");
    select.setAttribute("aria-label", "process");
    for (const choice of chart.choices) select.add(new Option(choice.name));
    select.selectedIndex = chart.chosen;
    select.addEventListener("change", () => choose(chart.choices[select.selectedIndex].blocks));
    heading.append(select);
  };

  /* Keys: the cursor moves with the arrows, + and - zoom, Escape shows all. */
  const keys = (plot, place) => {
    place.tabIndex = 0;
    place.setAttribute("aria-label", "chart: arrows move the cursor, + and - zoom, Escape shows all");
    place.addEventListener("keydown", (event) => {
      if (event.target !== place) return;
      const time = plot.data[0], { min, max } = plot.scales.x, step = event.shiftKey ? 20 : 1;
      const at = plot.cursor.idx ?? 0, zoom = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        const next = Math.min(Math.max(at + (event.key === "ArrowLeft" ? -step : step), 0), time.length - 1);
        plot.setCursor({ left: plot.valToPos(time[next], "x"), top: plot.bbox.height / 2 / devicePixelRatio });
      } else if (zoom) {
        const half = ((max - min) * zoom) / 2, middle = time[at] ?? (min + max) / 2;
        plot.setScale("x", { min: Math.max(middle - half, 0), max: Math.min(middle + half, time.at(-1)) });
      } else if (event.key === "Escape") plot.setScale("x", { min: time[0], max: time.at(-1) });
      else return;
      event.preventDefault();
    });
    for (const name of place.querySelectorAll(".u-legend th")) {
      name.tabIndex = 0;
      name.setAttribute("role", "button");
      name.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") (name.click(), event.preventDefault());
      });
    }
  };

  const make = (box) => {
    if (plots.has(box)) return;
    const chart = charts[box.dataset.chart], shown = { data: [] };
    const heading = document.createElement("h4");
    heading.textContent = chart.title;
    box.prepend(heading);
    if (chart.unit) {
      const unit = document.createElement("span");
      unit.className = "unit";
      unit.textContent = ", " + chart.unit;
      heading.append(unit);
    }
    const place = document.createElement("div");
    heading.after(place);
    const blocks = chart.choices ? chart.choices[chart.chosen].blocks : chart.blocks;
    const data = joined(chart, blocks, shown);
    const plot = new uPlot(options(chart, shown, place.clientWidth || 600), data, place);
    plots.set(box, plot);
    if (chart.choices) menu(chart, heading, (chosen) => plot.setData(joined(chart, chosen, shown)));
    keys(plot, place);
    new ResizeObserver(() => {
      if (place.clientWidth && place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: plot.height });
    }).observe(place);
  };

  /* The map of memory: buttons change the size of its points, and the mouse tells whose a point is. */
  const zoomable = (box) => {
    const about = JSON.parse(box.dataset.owners), image = box.querySelector("img");
    const [wider, narrower, higher, lower] = box.previousElementSibling.querySelectorAll("button");
    const says = box.previousElementSibling.querySelector("output");
    const size = { width: 1, height: 1 };
    const scaled = (what, factor) => () => {
      size[what] = Math.min(Math.max(size[what] * factor, 1), 32);
      image.style.width = 100 * size.width + "%";
      image.style.height = 30 * size.height + "rem";
    };
    wider.addEventListener("click", scaled("width", 2));
    narrower.addEventListener("click", scaled("width", 0.5));
    higher.addEventListener("click", scaled("height", 2));
    lower.addEventListener("click", scaled("height", 0.5));
    for (const mark of box.nextElementSibling.querySelectorAll("i")) mark.style.background = mark.dataset.colour;
    const canvas = document.createElement("canvas");
    let points = null;
    image.addEventListener("mousemove", (event) => {
      if (!points) {
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        points = canvas.getContext("2d", { willReadFrequently: true });
        points.drawImage(image, 0, 0);
      }
      const x = event.offsetX / image.clientWidth, y = event.offsetY / image.clientHeight;
      const [r, g, b] = points.getImageData(Math.floor(x * canvas.width), Math.floor(y * canvas.height), 1, 1).data;
      const hex = "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
      const owner = about.owners.find((one) => one.colour === hex);
      const frame = Math.floor((1 - y) * about.frames), time = about.from + x * (about.to - about.from);
      says.textContent = `frame ${frame} at ${time.toFixed(3)} s: ${owner ? owner.name : "?"}`;
    });
  };
  document.querySelectorAll("[data-owners]").forEach(zoomable);

  /* A page of many runs is drawn where one looks; all of it before it is printed. */
  const boxes = [...document.querySelectorAll("[data-chart]")];
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) (make(entry.target), seen.unobserve(entry.target));
  }, { rootMargin: "400px" });
  boxes.forEach((box) => seen.observe(box));
  addEventListener("beforeprint", () => boxes.forEach(make));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((plot) => plot.redraw()));
})();
