/* A small chart over the machines' time: one line for each machine, with the same axes. */

const HEIGHT = 96;
const LEFT = 44; // room for the numbers of the axis
const BELOW = 18;
const ABOVE = 8;

/** Rounds up to 1, 2, 5, 10, 20, ... (below one: 0.5, 0.2, ...). */
export function rounded(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6)));
  return [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= value * 0.999999);
}

const short = (value) => (value >= 1000 ? `${+(value / 1000).toPrecision(3)}k` : `${+value.toPrecision(3)}`);

export class Chart {
  /** `options`: title, unit (after the numbers), value(point), colours. */
  constructor(options) {
    this.options = options;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.className = "chart";
  }

  /** Draws lists of points {t, ...}; `end`: the end of the time axis in seconds. Draws only as many points as fit. */
  draw(lists, end) {
    const { canvas, options } = this;
    const width = canvas.clientWidth;
    if (!width) return;
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = HEIGHT * scale;
    const g = canvas.getContext("2d");
    g.scale(scale, scale);
    const most = rounded(Math.max(1, ...lists.flat().map(options.value)));
    const at = {
      x: (t) => LEFT + ((width - LEFT - 6) * t) / end,
      y: (value) => ABOVE + (HEIGHT - ABOVE - BELOW) * (1 - value / most),
    };
    this.axes(g, at, width, most, end);
    lists.forEach((points, i) => this.line(g, at, points, i));
  }

  axes(g, at, width, most, end) {
    const style = getComputedStyle(this.canvas);
    g.font = `11px ${style.fontFamily}`;
    g.fillStyle = style.color;
    g.strokeStyle = style.borderColor;
    g.textBaseline = "middle";
    for (const value of [0, most / 2, most]) {
      g.beginPath();
      g.moveTo(LEFT, at.y(value));
      g.lineTo(width - 6, at.y(value));
      g.stroke();
      g.textAlign = "right";
      g.fillText(short(value) + this.options.unit, LEFT - 5, at.y(value));
    }
    for (const [part, align] of [
      [0, "left"],
      [0.5, "center"],
      [1, "right"],
    ]) {
      g.textAlign = align;
      g.fillText(`${short(end * part)} s`, at.x(end * part), HEIGHT - 7);
    }
  }

  line(g, at, points, nr) {
    g.strokeStyle = getComputedStyle(this.canvas).getPropertyValue(this.options.colours[nr]);
    g.lineWidth = 1.6;
    g.setLineDash(nr ? [5, 3] : []);
    g.beginPath();
    points.forEach((point, i) => g[i ? "lineTo" : "moveTo"](at.x(point.t), at.y(this.options.value(point))));
    g.stroke();
    g.setLineDash([]);
  }

  /** Sets the text that a screen reader reads out. */
  describe(text) {
    this.canvas.setAttribute("aria-label", `${this.options.title}. ${text}`);
  }
}
