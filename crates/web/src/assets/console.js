"use strict";
// Shared by all pages: requests, streams, numbers, charts, the language and the link to another browser.
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

// Elements ------------------------------------------------------------------------------------------------------------

// An element with attributes and children; texts are never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

// Parts of a configuration that may be on lines of their own.
function breakable(text) {
  const parts = text.split(/(?<=[/:,@+])(?=\D)|(?<=\D[/:,@+])(?=\d)/);
  return parts.flatMap((part, index) => index ? [make("wbr"), part] : [part]);
}

function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

// Requests ------------------------------------------------------------------------------------------------------------

async function request(method, path, body, signal) {
  const options = { method, signal, headers: {} };
  if (method !== "GET" && method !== "DELETE") {
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body ?? {});
  }
  const answer = await fetch(path, options);
  if (!answer.ok) {
    const refused = await answer.json().catch(() => ({}));
    throw new Error(refused.error || `${answer.status} ${answer.statusText}`);
  }
  return answer.status === 204 ? null : answer.headers.get("content-type") === "application/json" ? answer.json() : answer.text();
}

// Runs only the latest of the calls that come while one is in progress.
function latest(work) {
  let running = null, waiting = null;
  return async function call(...args) {
    running?.abort();
    const mine = running = new AbortController();
    waiting = args;
    try {
      await work(mine.signal, ...waiting);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      if (running === mine) running = null;
    }
  };
}

function delayed(work, ms) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), ms);
  };
}

// Shows the cause and the remedy of a refusal; an empty text hides them.
function trouble(text) {
  const line = $("#trouble");
  line.hidden = !text;
  setText(line, text || "");
}

function announce(text) {
  setText($("#status"), text);
}

async function attempt(work) {
  trouble("");
  try {
    return await work();
  } catch (error) {
    trouble(error.message);
    return undefined;
  }
}

// Polls the percentage of a long computation and shows it, until the returned function is called.
function followPercent(path, show) {
  let isOver = false;
  const poll = async () => {
    const { percent } = await request("GET", path).catch(() => ({}));
    if (isOver) return;
    if (percent != null) show(percent);
    setTimeout(poll, 300);
  };
  show(0);
  setTimeout(poll, 100);
  return () => { isOver = true; };
}

// The one stream of a page. It ends with the page, and comes back by itself when the service is back.
function stream(path, handlers) {
  let source = null, retry = 0;
  const open = () => {
    source = new EventSource(path);
    source.onopen = () => { $("#lost").hidden = true; };
    source.onerror = () => {
      if (done) return;
      $("#lost").hidden = false;
      if (source.readyState === EventSource.CLOSED) {
        clearTimeout(retry);
        retry = setTimeout(open, 2000);
      }
    };
    for (const [name, handler] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
    }
  };
  let done = false;
  const close = () => { done = true; clearTimeout(retry); source?.close(); };
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) { done = false; open(); } });
  open();
  return close;
}

// Numbers -------------------------------------------------------------------------------------------------------------

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

function three(value) {
  if (value == null || !isFinite(value)) return "–";
  if (value === 0) return "0";
  if (Math.abs(value) >= 1000) return grouped.format(Number(value.toPrecision(3)));
  return Number(value.toPrecision(3)).toString();
}

function whole(value) {
  return value == null || !isFinite(value) ? "–" : grouped.format(value);
}

function time(ns) {
  if (ns == null || !isFinite(ns)) return "–";
  if (ns === 0) return "0";
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (ns >= size * 0.9995) return `${three(ns / size)} ${unit}`;
  }
  return `${three(ns)} ns`;
}

function megabytes(bytes) {
  return bytes == null ? "–" : three(bytes / 1e6);
}

function size(bytes) {
  for (const [unit, scale] of [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20]]) {
    if (bytes >= scale) return `${three(bytes / scale)} ${unit}`;
  }
  return `${bytes} B`;
}

// Fidelity of the last second; a triangle marks a departure from the model.
const VERDICTS = document.documentElement.lang !== "ja" ? {} : {
  idle: "アイドル", faithful: "モデルどおり", "median late": "中央値に遅れ", "tail late": "p99 に遅れ", "flow differs": "流量が相違", "offered less": "負荷が減少",
};
const isFaithful = (last) => !last || last.verdict === "faithful";

function fidelity(last, isIdle) {
  const word = isIdle || !last ? "idle" : last.verdict;
  return `${isIdle || isFaithful(last) ? "" : "▲ "}${VERDICTS[word] ?? word}`;
}

function money(cost) {
  if (!cost) return "–";
  const [amount, currency] = cost, value = Number(amount);
  return `${value < 0.01 ? value.toFixed(6) : value < 10 ? value.toFixed(4) : value.toFixed(2)} ${currency}`;
}

// Rates over the last second of cumulative counters, and its level.
class Rates {
  constructor() { this.samples = []; }

  add(at, ops, bytes) {
    const { samples } = this, last = samples[samples.length - 1];
    if (last && (ops < last.ops || at - last.at > 5000)) samples.length = 0;
    samples.push({ at, ops, bytes });
    while (samples.length > 2 && at - samples[0].at > 1100) samples.shift();
    const first = samples[0], seconds = (at - first.at) / 1000;
    return seconds > 0 ? { iops: (ops - first.ops) / seconds, bytes: (bytes - first.bytes) / seconds } : { iops: null, bytes: null };
  }
}

// Charts --------------------------------------------------------------------------------------------------------------

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const charts = new Set();
// A sample of the line of a series in the legend, as several series of a curve have the same colour.
const legend = { markers: { dash: (plot, index) => {
  const [length] = plot.series[index].dash ?? [];
  return length == null ? "solid" : length > 3 ? "dashed" : "dotted";
} } };

// A chart that follows the width of its element and the colour scheme. `options` is a function of nothing.
class Chart {
  constructor(element, options) {
    Object.assign(this, { element, options, data: [[]], plot: null, height: Number(element.dataset.height ?? 250) });
    charts.add(this);
    new ResizeObserver(() => this.resize()).observe(element);
  }

  resize() {
    const width = this.element.clientWidth;
    if (this.plot && width && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
  }

  draw() {
    const { element } = this;
    this.plot?.destroy();
    this.plot = new uPlot({ width: element.clientWidth || 300, height: this.height, legend, ...this.options() }, this.data, element);
  }

  set(data) {
    const isSame = this.plot && data.length === this.data.length;
    this.data = data;
    if (isSame) this.plot.setData(data); else this.draw();
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((chart) => chart.plot && chart.draw()));

const axis = (extra = {}) => ({
  stroke: colour("--soft"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule"), width: 1 },
  font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 20, size: 62, ...extra,
});
const LABELS = document.documentElement.lang === "ja" ? { queue: "p99（キュー深度固定）", time: "時刻", latency: "応答時間" } : { queue: "p99, fixed queue depth", time: "Time", latency: "Response time" };
const PALETTE = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5"];
const TIMES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

// Response time against throughput of several curves: { label, points }. Loads that arrive by the clock are solid (p99)
// and dashed (p50) lines; loads with a fixed queue depth are dotted.
class CurveChart {
  constructor(element) {
    this.curves = [];
    this.line = null;
    this.limits = [];
    this.isLog = false;
    this.chart = new Chart(element, () => this.options());
  }

  // The objective and the load line, and published limits of the curves.
  drawLines(plot) {
    const { ctx, bbox } = plot;
    const stroke = (from, to, name, dash) => {
      ctx.strokeStyle = ctx.fillStyle = colour(name); ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
      ctx.beginPath(); ctx.moveTo(...from); ctx.lineTo(...to); ctx.stroke();
    };
    const upright = (iops, name, dash, text, row) => {
      const x = plot.valToPos(iops, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      stroke([x, bbox.top], [x, bbox.top + bbox.height], name, dash);
      ctx.textAlign = x > bbox.left + bbox.width / 2 ? "right" : "left";
      ctx.fillText(text, x + (ctx.textAlign === "right" ? -4 : 4), bbox.top + (12 + 14 * row) * devicePixelRatio);
    };
    ctx.save();
    ctx.lineWidth = devicePixelRatio; ctx.textBaseline = "alphabetic";
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    this.limits.forEach(({ iops, text, series }, row) => upright(iops, PALETTE[series % PALETTE.length], [2, 3], text, row));
    if (this.line) {
      const y = plot.valToPos(this.line.limit_ns, "y", true);
      if (y >= bbox.top && y <= bbox.top + bbox.height) {
        stroke([bbox.left, y], [bbox.left + bbox.width, y], "--soft", [6, 4]);
        ctx.textAlign = "left";
        ctx.fillText(`≤ ${time(this.line.limit_ns)}`, bbox.left + 4 * devicePixelRatio, y - 4 * devicePixelRatio);
      }
      if (this.line.iops != null) upright(this.line.iops, "--accent", [], `${three(this.line.iops)} IOPS`, this.limits.length);
    }
    ctx.restore();
  }

  options() {
    const value = (_, ns) => time(ns);
    const series = this.curves.flatMap(({ label }, index) => {
      const stroke = colour(PALETTE[index % PALETTE.length]), spanGaps = true;
      return [
        { label: `${label} p99`.trim(), stroke, width: 2, spanGaps, points: { show: true, size: 6, fill: stroke }, value },
        { label: `${label} p50`.trim(), stroke, width: 1.2, dash: [6, 4], spanGaps, points: { show: false }, value },
        { label: `${label} ${LABELS.queue}`.trim(), stroke, width: 1, dash: [2, 5], spanGaps, points: { show: true, size: 6, fill: colour("--paper") }, value },
      ];
    });
    return {
      scales: { x: this.isLog ? { time: false, distr: 3 } : { time: false, range: (_, low, high) => [0, (high || 1) * 1.04] }, y: { distr: 3 } },
      axes: [axis({ label: "IOPS", size: 44, space: 70, values: (_, ticks) => ticks.map((tick) => tick == null ? "" : whole(tick)) }), axis({ label: LABELS.latency, values: (_, ticks) => ticks.map((tick) => TIMES.includes(tick) ? time(tick) : "") })],
      series: [{ label: "IOPS", value: (_, iops) => three(iops) }, ...series],
      // Room for half of the label of the last power of ten.
      padding: [null, this.isLog ? 34 : null, null, null],
      hooks: { draw: [(plot) => this.drawLines(plot)] }, cursor: { drag: { setScale: false } },
    };
  }

  set(curves, line = null, limits = []) {
    Object.assign(this, { line, limits });
    // A curve would be squeezed into a corner if others are more than 20 times as fast.
    const highest = curves.map(({ points }) => Math.max(...points.map(({ iops }) => iops))).filter((iops) => iops > 0);
    const isLog = Math.max(...highest) > 20 * Math.min(...highest);
    const isSame = isLog === this.isLog && curves.length === this.curves.length && curves.every((curve, index) => curve.label === this.curves[index].label);
    Object.assign(this, { curves, isLog });
    const table = (points) => {
      let last = 0;
      const sorted = [...points].sort((a, b) => a.iops - b.iops);
      return [sorted.map(({ iops }) => last = Math.max(iops, last * (1 + 1e-9))), sorted.map((point) => point.p99_ns), sorted.map((point) => point.p50_ns)];
    };
    const tables = curves.flatMap(({ points }) => [table(points.filter(({ open }) => open)), table(points.filter(({ open }) => !open)).slice(0, 2)]);
    if (!isSame) {
      this.chart.plot?.destroy();
      this.chart.plot = null;
    }
    this.chart.set(tables.length ? uPlot.join(tables) : [[]]);
  }
}

// Sliders of level and size -------------------------------------------------------------------------------------------

const SIZE_STEPS = 1000, LEAST_SIZE = 2 ** 30, MOST_SIZE = 2 ** 46;

// The size at a position of the slider, on a logarithmic scale above the least size.
function sizeAt(position, least = LEAST_SIZE) {
  const bytes = least * (MOST_SIZE / least) ** (position / SIZE_STEPS);
  return position == 0 ? least : Math.round(bytes / 2 ** 30) * 2 ** 30;
}

function positionOf(bytes, least = LEAST_SIZE) {
  return Math.round(SIZE_STEPS * Math.log(bytes / least) / Math.log(MOST_SIZE / least));
}

// Shows figures of a configuration in a card.
function showFigures(card, figures) {
  $(".figures", card).hidden = !figures;
  const put = (name, text) => setText($(`[data-figure=${name}]`, card), text);
  put("iops", three(figures?.iops));
  put("iops_limit", figures?.iops_limit ?? "");
  put("mbps", megabytes(figures?.bytes_per_second));
  put("bytes_limit", figures?.bytes_limit ?? "");
  put("usd", figures?.usd ?? "–");
  put("jpy", figures?.jpy ?? "–");
}

function setRange(input, { low, high, step, value }) {
  for (const [name, wanted] of [["min", low], ["max", high], ["step", step]]) {
    if (input.getAttribute(name) !== String(wanted)) input.setAttribute(name, wanted);
  }
  if (document.activeElement !== input || input.value === "") input.value = value;
}

// Language, links -----------------------------------------------------------------------------------------------------

$("#language")?.addEventListener("click", ({ currentTarget }) => {
  document.cookie = `lang=${currentTarget.dataset.to}; path=/; max-age=31536000; samesite=strict`;
  location.reload();
});
$("#link")?.addEventListener("click", ({ currentTarget }) => {
  const { note } = currentTarget.dataset;
  attempt(async () => {
    const { url } = await request("POST", "/api/links");
    trouble(`${note} ${url}`);
    await navigator.clipboard?.writeText(url).catch(() => {});
  });
});
