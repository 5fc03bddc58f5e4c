/*
 * A small chart over the machines' time: one line for each machine, with the same axes. Time is logarithmic, because one
 * machine may need a hundred times as long as the other.
 */

const HEIGHT = 96;
const LEFT = 44; // room for the numbers of the axis
const BELOW = 18;
const ABOVE = 8;
const RIGHT = 10;
const FROM = 0.02; // s: the first sample is not earlier
const LEAST = 0.2; // s: the shortest time axis
const APART = 34; // pixels between the numbers of the time axis

/** Rounds up to 1, 2, 5, 10, 20, ... (below one: 0.5, 0.2, ...). */
export function rounded(value) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1e-6)));
  return [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= value * 0.999999);
}

const short = (value) => (value >= 1000 ? `${+(value / 1000).toPrecision(3)}k` : `${+value.toPrecision(3)}`);

export class Chart {
  /** `options`: title, unit (after the numbers), value(point), colours, most (the end of the axis, if it is fixed). */
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
    const most = options.most ?? rounded(Math.max(1, ...lists.flat().map(options.value)));
    const whole = Math.log(Math.max(LEAST, end) / FROM);
    const at = {
      x: (t) => LEFT + ((width - LEFT - RIGHT) * Math.log(Math.max(FROM, t) / FROM)) / whole,
      y: (value) => ABOVE + (HEIGHT - ABOVE - BELOW) * (1 - value / most),
    };
    this.axes(g, at, width, most);
    this.times(g, at, Math.max(LEAST, end));
    lists.forEach((points, i) => this.line(g, at, points, i));
  }

  axes(g, at, width, most) {
    const style = getComputedStyle(this.canvas);
    g.font = `11px ${style.fontFamily}`;
    g.fillStyle = style.color;
    g.strokeStyle = style.borderColor;
    g.textBaseline = "middle";
    for (const value of [0, most / 2, most]) {
      g.beginPath();
      g.moveTo(LEFT, at.y(value));
      g.lineTo(width - RIGHT, at.y(value));
      g.stroke();
      g.textAlign = "right";
      g.fillText(short(value) + this.options.unit, LEFT - 5, at.y(value));
    }
  }

  /** The numbers of the time axis: 0.02, 0.05, 0.1, ... as far as they have room. */
  times(g, at, end) {
    g.textAlign = "center";
    let last = -Infinity;
    for (let t = FROM; t <= end; t = rounded(t * 1.01)) {
      if (at.x(t) - last < APART) continue;
      last = at.x(t);
      g.fillText(`${short(t)} s`, last, HEIGHT - 7);
    }
  }

  /** The last value of a list of points as a text; "" if there is none. */
  last(points) {
    const point = points.at(-1);
    return point ? short(Math.round(this.options.value(point))) + this.options.unit : "";
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
