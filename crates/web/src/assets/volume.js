"use strict";
// A volume: live charts, the level slider, operations.
{
  const page = $("#volume"), { name, uri } = page.dataset, words = page.dataset;
  const control = (part) => `/api/control/v1/volumes/${encodeURIComponent(name)}${part}`;
  const KEPT = 300;

  // Charts --------------------------------------------------------------------------------------------------------------
  const history = { at: [], iops: [], mbps: [], p50: [], p99: [], unfaithful: [] }, marks = [];
  const push = (at, iops, bytes, p50, p99, isFaithful) => {
    for (const [key, value] of Object.entries({ at, iops, mbps: bytes / 1e6, p50: p50 || null, p99: p99 || null, unfaithful: !isFaithful })) {
      history[key].push(value);
      if (history[key].length > KEPT) history[key].shift();
    }
  };
  const clipped = (draw) => (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath(); ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height); ctx.clip();
    draw(plot, ctx, bbox);
    ctx.restore();
  };
  // Seconds that did not follow the model, below the series.
  const shade = clipped((plot, ctx, bbox) => {
    ctx.fillStyle = colour("--caution"); ctx.globalAlpha = 0.16;
    history.at.forEach((at, index) => {
      if (!history.unfaithful[index]) return;
      const x = Math.round(plot.valToPos(at - 1, "x", true));
      ctx.fillRect(x, bbox.top, Math.round(plot.valToPos(at, "x", true)) - x, bbox.height);
    });
  });
  // Level changes, above them.
  const drawMarks = clipped((plot, ctx, bbox) => {
    ctx.strokeStyle = ctx.fillStyle = colour("--accent"); ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([]); ctx.textAlign = "left"; ctx.textBaseline = "alphabetic";
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    for (const { at_ms, to } of marks) {
      const x = plot.valToPos(at_ms / 1000, "x", true);
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      ctx.fillText(`${words.marks} ${to}`, x + 4, bbox.top + 12 * devicePixelRatio);
    }
  });
  const clock = (_, ticks) => ticks.map((tick) => new Date(tick * 1000).toTimeString().slice(0, 8));
  const at = { label: LABELS.time, value: (_, tick) => tick == null ? "–" : clock(null, [tick])[0] };
  const x = () => {
    const last = history.at[history.at.length - 1] ?? Date.now() / 1000;
    return [Math.min(history.at[0] ?? last, last - 60), last];
  };
  const rate = new Chart($("#rate"), () => ({
    scales: { x: { range: x }, y: { range: (_, low, high) => [0, Math.max(10, high * 1.1)] }, mbps: { range: (_, low, high) => [0, Math.max(1, high * 1.5)] } },
    axes: [axis({ values: clock, size: 34, space: 80 }), axis({ values: (_, ticks) => ticks.map(whole) }), axis({ scale: "mbps", side: 1, grid: { show: false }, values: (_, ticks) => ticks.map(three), size: 50 })],
    series: [at, { label: "IOPS", stroke: colour("--c0"), width: 2, value: (_, value) => three(value) }, { label: "MB/s", scale: "mbps", stroke: colour("--c1"), width: 1.2, dash: [5, 4], value: (_, value) => three(value) }],
    hooks: { drawClear: [shade], draw: [drawMarks] }, cursor: { drag: { setScale: false } },
  }));
  const latency = new Chart($("#latency"), () => ({
    scales: { x: { range: x }, y: { distr: 3, range: (_, low, high) => [Math.min(low ?? 1e5, 1e5), Math.max((high ?? 1e7) * 1.6, 1e7)] } },
    axes: [axis({ values: clock, size: 34, space: 80 }), axis({ values: (_, ticks) => ticks.map((tick) => TIMES.includes(tick) ? time(tick) : "") })],
    series: [at, { label: "p50", stroke: colour("--p50"), width: 1.5, dash: [5, 4], value: (_, ns) => time(ns) }, { label: "p99", stroke: colour("--p99"), width: 2, value: (_, ns) => time(ns) }],
    hooks: { drawClear: [shade], draw: [drawMarks] }, cursor: { drag: { setScale: false } },
  }));
  const draw = () => {
    rate.set([[...history.at], [...history.iops], [...history.mbps]]);
    latency.set([[...history.at], [...history.p50], [...history.p99]]);
  };
  draw();

  // Live figures --------------------------------------------------------------------------------------------------------
  const rates = new Rates();
  let lastSecond = 0, present = null, changed = () => {};
  const show = (volume, at_ms) => {
    const { iops, bytes } = rates.add(at_ms, volume.ops, volume.bytes), { last } = volume, isIdle = !iops;
    if (present && present.like !== volume.like) {
      marks.push({ at_ms, to: String(volume.level ?? volume.like) });
      announce(`${words.marks} ${volume.level ?? volume.like}`);
      changed(volume);
    }
    present = volume;
    setText($("#like"), volume.like);
    setText($("#iops"), three(iops ?? 0));
    setText($("#mbps"), megabytes(bytes ?? 0));
    setText($("#p50"), isIdle ? "–" : time(last?.p50_ns));
    setText($("#p99"), isIdle ? "–" : time(last?.p99_ns));
    setText($("#depth"), String(volume.in_flight));
    setText($("#clients"), String(volume.clients));
    setText($("#cost"), money(volume.cost));
    setText($("#faithful"), fidelity(last, isIdle));
    const second = Math.floor(at_ms / 1000);
    if (second === lastSecond) return;
    lastSecond = second;
    push(second, iops ?? 0, bytes ?? 0, isIdle ? 0 : last?.p50_ns, isIdle ? 0 : last?.p99_ns, isIdle || isFaithful(last));
    draw();
  };
  stream(`/events/volumes/${encodeURIComponent(name)}`, {
    history: ({ now_s, step_s, seconds, marks: earlier }) => {
      for (const list of Object.values(history)) list.length = 0;
      marks.splice(0, marks.length, ...earlier);
      // Nothing was answered between seconds that are further apart.
      const idle = (from, to) => {
        if (to - from <= step_s) return;
        push(from + step_s, 0, 0, 0, 0, true);
        if (to - step_s > from + step_s) push(to - step_s, 0, 0, 0, 0, true);
      };
      let before = null;
      for (const [second, ops, bytes, p50, p99, isFaithful] of seconds) {
        if (before != null) idle(before, second);
        push(second, ops, bytes, p50, p99, isFaithful);
        before = second;
      }
      if (before != null) idle(before, now_s);
      draw();
    },
    volumes: ({ at_ms, volumes: [volume] }) => show(volume, at_ms),
    gone: () => location.assign("/"),
    trouble: ({ error }) => trouble(error),
  });

  // Level and size ------------------------------------------------------------------------------------------------------
  const card = $("#levels");
  if (card) {
    const level = $("[data-slider=level]", card), amount = $("[data-slider=size]", card);
    const slide = $("input", level), grow = $("input", amount), other = $("#other").elements.to;
    let bytes = Number(page.dataset.size), applied = null, refusedTo = null;
    const message = (text) => setText($("[data-figure=message]", card), text);
    const wanted = () => {
      const body = { volume: name };
      if (other.value.trim()) body.like = other.value.trim();
      else if (!level.hidden && slide.value !== "") body.level = Number(slide.value);
      if (Number(grow.value) > 0) body.size_bytes = sizeAt(grow.value, bytes);
      return body;
    };
    const figures = latest(async (signal, body) => {
      try {
        const found = await request("POST", "/api/figures", body, signal);
        showFigures(card, found);
        if (found.level && !other.value.trim()) {
          level.hidden = false;
          setRange(slide, found.level);
          setText($(".name", level), found.level.name);
          setText($("output", level), String(found.level.value));
          applied ??= found.level.value;
        }
        setText($("output", amount), size(body.size_bytes ?? bytes));
        message(found.detached_only ?? "");
      } catch (error) {
        if (error.name === "AbortError") throw error;
        showFigures(card, null);
        message(error.message);
      }
    });
    const settle = (value) => { applied = value; slide.value = value; setText($("output", level), String(value)); };
    const apply = async (to, force) => {
      $("#force").hidden = true;
      try {
        const volume = await request("POST", control("/level"), { to, force_detach: force });
        other.value = "";
        if (volume.level != null) settle(volume.level);
        await figures({ volume: name });
        trouble("");
        announce(`${words.marks} ${volume.level ?? volume.like}`);
      } catch (error) {
        if (applied != null) slide.value = applied;
        await figures({ volume: name });
        message(error.message);
        refusedTo = to;
        $("#force").hidden = !error.message.includes("--force-detach");
      }
    };
    // The level may be changed by others, too.
    changed = (volume) => {
      if (volume.level != null && document.activeElement !== slide) settle(volume.level);
      bytes = volume.size_bytes;
      if (!other.value.trim() && document.activeElement !== slide) figures({ volume: name });
    };
    amount.hidden = false;
    grow.value = 0;
    slide.addEventListener("input", () => figures(wanted()));
    slide.addEventListener("change", () => apply(slide.value, false));
    grow.addEventListener("input", () => { $("#grow").hidden = Number(grow.value) === 0; figures(wanted()); });
    $("#grow").addEventListener("click", () => attempt(async () => {
      bytes = (await request("POST", control("/resize"), { size_bytes: sizeAt(grow.value, bytes) })).size_bytes;
      grow.value = 0;
      $("#grow").hidden = true;
      await figures(wanted());
    }));
    other.addEventListener("input", () => figures(wanted()));
    $("#other").addEventListener("submit", (event) => { event.preventDefault(); if (other.value.trim()) apply(other.value.trim(), false); });
    $("#force").addEventListener("click", () => apply(refusedTo, true));
    figures(wanted());
  }

  // Operations ----------------------------------------------------------------------------------------------------------
  const number = (field) => field.value === "" ? undefined : Number(field.value);
  const actions = {
    snapshot: ({ name }) => request("POST", control("/snapshot"), { name: name.value }).then(() => location.assign(`/volumes/${encodeURIComponent(name.value)}`)),
    clone: ({ name }) => request("POST", control("/clone"), { name: name.value }).then(() => location.assign(`/volumes/${encodeURIComponent(name.value)}`)),
    restore: ({ from }) => confirm(`${words.sure} ${from.value} → ${name}`) && request("POST", control("/restore"), { from: from.value }).then(() => location.reload()),
    autotune: (fields) => request("PUT", control("/autotune"), { default: number(fields.default), most: number(fields.most) }).then(() => location.reload()),
    faults: ({ only, errors_ppm, spikes_ppm, spike_ms, tears_ppm, stall_ms }) => request("PUT", control("/faults"), {
      ...only.value && { only: only.value }, errors_ppm: number(errors_ppm) ?? 0, spikes_ppm: number(spikes_ppm) ?? 0, spike_ns: (number(spike_ms) ?? 0) * 1e6,
      tears_ppm: number(tears_ppm) ?? 0, stall_ns: (number(stall_ms) ?? 0) * 1e6,
    }).then(() => location.reload()),
    record: ({ file }) => request("PUT", control("/recording"), { file: file.value }).then(() => location.reload()),
    "stop-recording": async () => {
      const { file, operations, dropped } = await request("DELETE", control("/recording"));
      $("[data-action=stop-recording]").hidden = true;
      trouble(`${file}: ${whole(operations)} requests, ${whole(dropped)} dropped`);
    },
    scrub: async () => {
      await request("POST", "/api/control/v1/scrub", { volume: name });
      showScrub();
    },
    attach: ({ mountpoint, mkfs }) => request("POST", `/api/volumes/${encodeURIComponent(name)}/attach`, { mountpoint: mountpoint.value || null, mkfs: mkfs.value || null }).then(() => location.reload()),
    detach: () => request("POST", `/api/volumes/${encodeURIComponent(name)}/detach`).then(() => location.reload()),
    delete: () => request("DELETE", control("")).then(() => location.assign("/")),
  };
  // The progress of a scrub of this volume, until it ends.
  const showScrub = async () => {
    const line = $("#scrub"), state = await request("GET", "/api/control/v1/scrub");
    if (state.volume !== name) return;
    setText(line, state.error ?? `${size(state.done_bytes)} / ${size(state.total_bytes)} ${line.dataset.done}: ${whole(state.damaged_blocks)}`);
    if (state.running) setTimeout(() => attempt(showScrub), 500);
  };
  if ($("#scrub")) attempt(showScrub);
  for (const form of $$("form[data-action]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      attempt(() => actions[form.dataset.action](form.elements));
    });
  }
  for (const button of $$("[data-off]")) {
    button.addEventListener("click", () => attempt(() => request("DELETE", control(`/${button.dataset.off}`)).then(() => location.reload())));
  }
  $("#measure").addEventListener("submit", (event) => {
    event.preventDefault();
    const { preset, writes } = event.target.elements, destroy = Boolean(writes?.checked);
    attempt(async () => {
      const body = { path: uri, preset: preset.value, destroy, case: event.target.dataset.case };
      if (!destroy) body.reads = "100";
      const { id } = await request("POST", "/api/jobs", body);
      location.assign(`/measure#job-${id}`);
    });
  });
}
