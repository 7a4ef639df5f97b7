"use strict";
// A second view of a load curve that zooms: a drag selects, a double click shows all of it again.
const zoomWords = document.documentElement.lang === "ja" ? ["拡大", "全体を表示"] : ["Zoom", "Whole picture"];
for (const data of document.querySelectorAll("script.zoom")) {
  const figure = data.closest("figure"), drawings = figure.querySelectorAll("svg.chart");
  const { unit, log, series, limits, lines } = JSON.parse(data.textContent);
  const holder = document.createElement("div"), button = document.createElement("button");
  holder.hidden = true; holder.className = "zoomed";
  button.type = "button"; button.className = "zoom"; button.textContent = zoomWords[0];
  data.after(button, holder);
  const color = (name) => getComputedStyle(drawings[0]).getPropertyValue("--" + name);
  // uPlot joins series by their x, so each x of a series has to be larger than the one before.
  const table = ({ points }) => {
    let last = 0;
    const x = points.map(([iops]) => last = Math.max(iops, last * (1 + 1e-9)));
    return [x, points.map(([, ms]) => ms)];
  };
  const rules = (plot) => {
    const { ctx, bbox } = plot;
    ctx.save(); ctx.beginPath(); ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height); ctx.clip();
    ctx.strokeStyle = color("accent"); ctx.lineWidth = devicePixelRatio; ctx.beginPath();
    for (const y of limits.map((ms) => plot.valToPos(ms, "y", true))) { ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); }
    for (const x of lines.map((iops) => plot.valToPos(iops, "x", true))) { ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); }
    ctx.stroke(); ctx.restore();
  };
  const draw = () => {
    const axis = (label) => ({ label, stroke: color("ink"), grid: { stroke: color("rule") }, ticks: { stroke: color("rule") } });
    const one = ({ label, tone, form }) => ({
      label, stroke: color(tone), width: 2, spanGaps: true, ...(form === "line" ? {} : { paths: () => null }),
      points: { show: form !== "line", size: 7, fill: color(form === "solid" ? tone : "paper") },
      value: (plot, ms) => ms == null ? "\u2013" : ms.toPrecision(3) + " ms",
    });
    return new uPlot({
      width: figure.clientWidth, height: 460, hooks: { draw: [rules] }, scales: { x: { time: false, distr: log ? 3 : 1 }, y: { distr: 3 } },
      axes: [axis("completed, " + unit), axis("response time, ms")], series: [{ label: unit }, ...series.map(one)],
    }, uPlot.join(series.map(table)), holder);
  };
  let plot = null;
  button.addEventListener("click", () => {
    holder.hidden = !holder.hidden;
    for (const drawing of drawings) drawing.style.display = holder.hidden ? "" : "none";
    button.textContent = zoomWords[Number(!holder.hidden)];
    plot?.destroy();
    plot = holder.hidden ? null : draw();
  });
}
