"use strict";
// Models simulated as they are typed, over a measured run.
{
  const form = $("#model"), chart = new CurveChart($("#curve")), message = $("#message");
  const known = new Map();
  let run = null;

  const simulated = async (model, signal) => {
    const { preset, reads, block } = form.elements;
    const body = { model, preset: preset.value, reads: reads.value, block: block.value };
    const key = JSON.stringify(body);
    if (!known.has(key)) {
      known.set(key, await request("POST", "/api/simulate", body, signal));
      if (known.size > 100) known.delete(known.keys().next().value);
    }
    return known.get(key);
  };
  const simulate = latest(async (signal) => {
    const models = form.elements.models.value.split("\n").map((line) => line.trim()).filter(Boolean).slice(0, 5);
    const curves = [], lines = [], limits = [];
    let refused = "";
    for (const [index, model] of models.entries()) {
      setText(message, `${message.dataset.busy} ${Math.round(100 * index / models.length)} %`);
      try {
        const found = await simulated(model, signal);
        const [iops, name] = found.published ?? [], limit = iops && `${message.dataset.limit} ${three(iops)} IOPS`;
        if (limit) limits.push({ iops, text: limit, series: curves.length });
        curves.push({ label: model, points: found.points });
        const price = [found.usd, found.jpy].filter(Boolean).join(", ");
        lines.push(`${model}: ${found.cut ? message.dataset.cut : found.load_line ?? "–"}${limit ? `; ${limit} (${name})` : ""}${price ? `; ${price} ${message.dataset.month}` : ""}`);
      } catch (error) {
        if (error.name === "AbortError") throw error;
        refused ||= error.message;
      }
    }
    if (run) curves.push(run);
    setText(message, refused);
    chart.set(curves, null, limits);
    $("#lines").replaceChildren(...lines.map((line) => make("li", {}, line)));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", delayed(() => simulate(), 150));
  form.elements.run.addEventListener("change", ({ target }) => attempt(async () => {
    run = target.value ? { label: target.selectedOptions[0].textContent, points: await request("GET", `/api/runs/${target.value}/points`) } : null;
    simulate();
  }));
  attempt(async () => {
    const runs = (await request("GET", "/api/runs")).filter(({ is_curve }) => is_curve).slice(0, 50);
    form.elements.run.append(...runs.map(({ name, label }) => make("option", { value: name }, label || name)));
  });
  simulate();
}
