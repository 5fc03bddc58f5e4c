"use strict";

(() => {
  const HEIGHT = 200, TALL = 320;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const plots = new Map(); // by box
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const night = matchMedia("(prefers-color-scheme: dark)");
  const paler = (part) => Math.round(parseInt(part, 16) * 0.7 + 255 * 0.3);
  /* In dark mode black ink becomes the text colour, and other colours become paler. */
  const ink = (hex) => {
    if (hex === "#222222") return colour("--text");
    return night.matches ? `rgb(${hex.match(/[0-9a-f]{2}/gi).map(paler)})` : hex;
  };

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

  /* A bar along the top edge while the machine thrashed. */
  const drawSpells = (spells) => (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.fillStyle = colour("--vermilion");
    for (const [begin, end] of spells) {
      const left = Math.max(u.valToPos(begin, "x", true), bbox.left);
      const right = Math.min(u.valToPos(end, "x", true), bbox.left + bbox.width);
      if (right > left) ctx.fillRect(left, bbox.top, right - left, 4 * devicePixelRatio);
    }
    ctx.restore();
  };

  /* Draw a vertical line for each event, and write the greatest value of a line that the axis cuts off. */
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

  /* Draw signs at the top edge for processes that ended (▼), were held back (◀) or admitted (▶), with text if there is
     room, and with the number of other exits there. */
  const SIGNS = { exit: ["▼", "--text"], suspended: ["◀", "--vermilion"], admitted: ["▶", "--green"] };
  const drawTurns = (turns) => (u) => {
    const { ctx, bbox } = u, dot = devicePixelRatio;
    ctx.save();
    ctx.font = 10 * dot + "px sans-serif";
    const written = [];
    for (const [at, kind, text] of turns) {
      const x = u.valToPos(at, "x", true), last = written.at(-1);
      if (!inside(u, x)) continue;
      ctx.fillStyle = colour(SIGNS[kind][1]);
      ctx.textAlign = "center";
      ctx.fillText(SIGNS[kind][0], x, bbox.top + 9 * dot);
      if (!last || x >= last.x + 12 * dot) written.push({ x, kind, text, more: 0 });
      else last.more += kind === last.kind;
    }
    ctx.textAlign = "left";
    for (const { x, kind, text, more } of written) {
      ctx.save();
      ctx.fillStyle = colour(SIGNS[kind][1]);
      ctx.translate(x + 4 * dot, bbox.top + 13 * dot);
      ctx.rotate(Math.PI / 2);
      ctx.fillText(kind === "exit" && more ? `${text} +${more}` : text, 0, 4 * dot);
      ctx.restore();
    }
    ctx.restore();
  };

  /* The value at an index of a column; without an index, so that no legend is empty, the last one. */
  const valueAt = (column, index) => (index == null ? column.findLast((value) => value != null) : column[index]);

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
      points: { show: Boolean(chart.picked), size: 6, fill: ink(s.colour) },
      paths: chart.picked ? () => null : s.stepped || chart.stack ? uPlot.paths.stepped({ align: chart.stack ? 1 : -1 }) : uPlot.paths.linear(),
      value: (u, value, nr, index) => written(valueAt(chart.stack ? shown.data[nr] : u.data[nr], index), chart.unit),
    };
  };

  const yScale = (chart) => {
    if (chart.log) return { distr: 3, range: (u, min, max) => uPlot.rangeLog(Math.max(min || 1, 1), max || 10, 10, true) };
    return { range: (u, min, max) => [0, chart.top ?? (max > 0 ? max * (chart.turns ? 1.4 : 1.05) : 1)] };
  };

  /* All charts of a group begin at 0 (with logarithmic time at `from`) and end together. A range that the reader selected
     is shown exactly. */
  const first = (chart) => chart.from ?? 0;
  const xRange = (chart) => (u, min, max) => (min === u.data[0][0] && max === u.data[0].at(-1) ? [first(chart), chart.end] : [min, max]);

  /* Ticks of logarithmic time: 1, 2 and 5 of each decade; evenly spaced ticks for a short stretch. */
  const xTicks = (u, nr, min, max) => {
    const found = [];
    for (let ten = 10 ** Math.floor(Math.log10(min)); ten <= max; ten *= 10)
      found.push(...[1, 2, 5].map((times) => +(times * ten).toPrecision(6)).filter((t) => t >= min && t <= max));
    if (found.length > 2) return found.length * 48 < u.width ? found : found.filter((t) => Number.isInteger(Math.log10(t)));
    const step = 10 ** Math.floor(Math.log10(max - min)) / 2, begin = Math.ceil(min / step);
    return Array.from({ length: Math.floor(max / step) - begin + 1 }, (_, at) => +((begin + at) * step).toPrecision(6));
  };

  const timeAxis = (chart) => ({
    values: (u, ticks) => ticks.map((t) => t + " s"),
    ...(chart.from ? { splits: xTicks, filter: (u, ticks) => ticks } : {}),
  });

  /* All charts show the same stretch of time: `stretch` is what the reader selected, null for all of it. */
  let stretch = null, zooming = false;
  const zoom = (chart, plot) => {
    const [min, max] = stretch ?? [plot.data[0][0], plot.data[0].at(-1)];
    plot.setScale("x", { min: Math.max(min, first(chart)), max });
  };
  const zoomed = (u, key) => {
    if (key !== "x" || zooming || !u.ready) return;
    const { min, max } = u.scales.x;
    stretch = min <= u.first && max >= u.end ? null : [min, max];
    zooming = true;
    for (const [box, plot] of plots) if (plot !== u) zoom(charts[box.dataset.chart], plot);
    zooming = false;
  };

  const options = (chart, shown, width) => ({
    width,
    height: chart.tall ? TALL : HEIGHT,
    cursor: { sync: { key: "page" }, drag: { x: true, y: false } },
    legend: { markers: { dash: (u, at) => (u.series[at].dash?.length ? "dashed" : "solid"), fill: (u, at) => u.series[at].fill?.(u, at) } },
    scales: { x: { time: false, distr: chart.from ? 3 : 1, range: xRange(chart) }, y: yScale(chart) },
    axes: [axis(timeAxis(chart)), axis({ size: 64 })],
    series: [{ label: "time", value: (u, t) => (t ?? u.data[0].at(-1)).toFixed(3) + " s" }, ...order(chart, chart.series).map(lineOf(chart, shown))],
    hooks: { setScale: [zoomed], drawAxes: [drawSpells(chart.spells)], draw: [drawMarks(chart), drawTurns(chart.turns || [])] },
  });

  /* The highest of the stacked areas is drawn first, and the others over it. */
  const order = (chart, list) => {
    const n = chart.stack || 0;
    return [...list.slice(0, n).reverse(), ...list.slice(n)];
  };

  /* Runs are sampled at their own times: one table of all, with gaps that the lines span. A logarithm has no 0. */
  const joined = (chart, blocks, shown) => {
    if (chart.picked) return blocks[0]; // faults may begin at the same time
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

  /* Keys: the arrows move the cursor, + and - zoom, Escape shows all. */
  const keys = (chart, plot, place) => {
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
        plot.setScale("x", { min: Math.max(middle - half, first(chart)), max: Math.min(middle + half, time.at(-1)) });
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

  /* A chart of faults: a click, or Enter, tells the life of the nearest fault's page, and the commands that lead there. */
  const life = (chart, at) => {
    const [name, pid, page, evicted, reason, by] = chart.picked[at], [times, took] = chart.blocks[0];
    const begin = times[at], what = `page ${page} of ${name} ${pid}`;
    const before = evicted == null ? `Before, ${what} had not been evicted: its first use reads a file, or it was read ahead.`
      : `${what[0].toUpperCase() + what.slice(1)} was evicted at ${evicted.toFixed(6)} s (${reason}; by ${by}), and was away for ${written(+((begin - evicted) * 1e3).toPrecision(5), "ms")}.`;
    return [`At ${begin.toFixed(6)} s: major fault on ${what}. It took ${written(took[at], "µs")}.`, before,
      `tidemark gdb ${chart.result} --at ${begin.toFixed(9)}s`, `tidemark why ${chart.result} --pid ${pid} --page ${page} --at ${(evicted ?? begin).toFixed(9)}s`];
  };
  const pickable = (chart, plot, place) => {
    const says = document.createElement("div");
    says.className = "life";
    says.setAttribute("role", "status");
    place.after(says);
    const tell = (at) => says.replaceChildren(...life(chart, at).map((text, nr) => {
      const line = document.createElement(nr < 2 ? "p" : "code");
      line.textContent = text;
      return line;
    }));
    const near = (x, y) => {
      const [times, took] = plot.data, away = times.map((time, at) =>
        Math.hypot(plot.valToPos(time, "x") - x, plot.valToPos(Math.max(took[at], 0.9), "y") - y));
      return away.indexOf(Math.min(...away));
    };
    plot.over.addEventListener("click", () => tell(near(plot.cursor.left, plot.cursor.top)));
    place.addEventListener("keydown", (event) => event.key === "Enter" && event.target === place && plot.cursor.idx != null && tell(plot.cursor.idx));
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
    [plot.ready, plot.first, plot.end] = [true, first(chart), chart.end];
    if (stretch) zoom(chart, plot);
    if (chart.choices) menu(chart, heading, (chosen) => plot.setData(joined(chart, chosen, shown)));
    keys(chart, plot, place);
    if (chart.picked) pickable(chart, plot, place);
    new ResizeObserver(() => {
      if (place.clientWidth && place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: plot.height });
    }).observe(place);
  };

  /* The map of memory: buttons change the size of its points; the mouse, or the arrows if the map has the focus, show
     the owner of a point. */
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
    const tell = (x, y) => {
      if (!points) {
        [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
        points = canvas.getContext("2d", { willReadFrequently: true });
        points.drawImage(image, 0, 0);
      }
      const [r, g, b] = points.getImageData(Math.floor(x * canvas.width), Math.floor(y * canvas.height), 1, 1).data;
      const hex = "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");
      const owner = about.owners.find((one) => one.colour === hex);
      const frame = Math.floor((1 - y) * about.frames), time = about.from + x * (about.to - about.from);
      says.textContent = `frame ${frame} at ${time.toFixed(3)} s: ${owner ? owner.name : "?"}`;
    };
    image.addEventListener("mousemove", (event) => tell(event.offsetX / image.clientWidth, event.offsetY / image.clientHeight));
    const cross = box.appendChild(document.createElement("i")), at = { x: 0.5, y: 0.5 };
    box.addEventListener("keydown", (event) => {
      const [what, way] = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowUp: ["y", -1], ArrowDown: ["y", 1] }[event.key] ?? [];
      if (!what) return;
      at[what] = Math.min(Math.max(at[what] + (way * (event.shiftKey ? 0.1 : 0.01)) / size[what === "x" ? "width" : "height"], 0), 0.9999);
      cross.style.left = at.x * image.clientWidth + "px";
      cross.style.top = at.y * image.clientHeight + "px";
      cross.scrollIntoView({ block: "nearest", inline: "nearest" });
      tell(at.x, at.y);
      event.preventDefault();
    });
  };
  document.querySelectorAll("[data-owners]").forEach(zoomable);

  /* Draw a chart when it scrolls into view, and all charts before printing: a page may have many runs. */
  const boxes = [...document.querySelectorAll("[data-chart]")];
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) (make(entry.target), seen.unobserve(entry.target));
  }, { rootMargin: "400px" });
  boxes.forEach((box) => seen.observe(box));
  addEventListener("beforeprint", () => boxes.forEach(make));
  night.addEventListener("change", () => plots.forEach((plot) => plot.redraw()));
})();
