"use strict";
// Starting, following and stopping a measurement; the library of runs.
{
  const form = $("#start"), card = $("#job"), table = $("#runs"), words = table.dataset;
  let job = null, points = [], chart = null, close = null;

  // Measurement ---------------------------------------------------------------------------------------------------------
  const follow = (id, command) => {
    close?.();
    job = id;
    points = [];
    card.hidden = false;
    $("#progress").hidden = $("#stop").hidden = $("#stop").disabled = false;
    $("#open").hidden = $("#discard").hidden = $("#story").hidden = true;
    $("#notices").replaceChildren();
    setText($("#ending"), "");
    setText($("#line"), "");
    let line = null;
    // A word is broken only if it is wider than the page, not at its hyphens.
    $("#what").replaceChildren(...(command ?? "").split(" ").flatMap((word) => [make("span", {}, word), " "]));
    chart ??= new CurveChart($("#curve"));
    chart.set([{ label: "", points }]);
    setText($("#count"), "0");
    let count = 0;
    close = stream(`/events/jobs/${id}`, {
      point: (point) => {
        points.push(point);
        count += 1;
        chart.set([{ label: "", points }], line);
        setText($("#count"), String(count));
        announce(`${point.load}: ${three(point.iops)} IOPS, p99 ${time(point.p99_ns)}`);
      },
      line: (found) => {
        line = found;
        chart.set([{ label: "", points }], line);
        setText($("#line"), `${$("#line").dataset.soFar}: ${found.text}`);
      },
      notice: ({ text }) => $("#notices").append(make("li", {}, text)),
      state: ({ phase, iops, p99_ns, done, left_ns }) => {
        $("#done").value = done;
        setText($("#phase"), `${Math.floor(done * 100)} %, ${phase}`);
        setText($("#iops"), three(iops));
        setText($("#p99"), time(p99_ns));
        setText($("#left"), time(left_ns));
      },
      end: async ({ run, error, stopped, story }) => {
        ended();
        setText($("#ending"), run ? `${stopped ? $("#ending").dataset.stopped : $("#ending").dataset.retained} ${run}` : error);
        if (run) {
          $("#open").hidden = $("#discard").hidden = false;
          $("#open").href = `/runs/${run}`;
          $("#discard").dataset.run = run;
          $("#story").hidden = !story;
          if (story) $("#story").href = `/story/${story}/${run}/html`;
        }
        await attempt(load);
        // The verdict of the whole run replaces that of its points so far.
        const kept = runs.find(({ name }) => name === run);
        setText($("#line"), kept?.result ?? "");
        if (kept && job === id) chart.set([{ label: "", points }], kept.line);
      },
      gone: () => { ended(); setText($("#ending"), $("#ending").dataset.gone); },
    });
  };
  const ended = () => {
    close();
    $("#progress").hidden = $("#stop").hidden = true;
    for (const figure of ["#iops", "#p99", "#left"]) setText($(figure), "–");
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { path, preset, duration, objective, size, destroy } = form.elements;
    const body = { path: path.value, preset: preset.value, objective: objective.value, size: size.value, destroy: destroy.checked };
    if (duration.value === "quick") body.quick = true; else body.duration = duration.value;
    attempt(async () => {
      const { id, command } = await request("POST", "/api/jobs", body);
      follow(id, command);
    });
  });
  $("#stop").addEventListener("click", ({ currentTarget }) => {
    currentTarget.disabled = true;
    attempt(() => request("POST", `/api/jobs/${job}/stop`));
  });
  $("#discard").addEventListener("click", ({ currentTarget }) => attempt(async () => {
    await request("DELETE", `/api/runs/${currentTarget.dataset.run}`);
    await request("DELETE", `/api/jobs/${job}`);
    card.hidden = true;
    load();
  }));

  // Runs ----------------------------------------------------------------------------------------------------------------
  let runs = [];
  const marked = new Set();
  const showMarked = () => {
    $("#compare").disabled = marked.size !== 2;
    $("#overlay").disabled = marked.size < 2 || marked.size > 5;
  };
  const markedNames = () => runs.filter(({ name }) => marked.has(name)).map(({ name }) => name).reverse();
  const row = (run) => {
    const label = make("input", { value: run.label, "aria-label": `${words.label}: ${run.name}`, maxlength: 120 });
    label.addEventListener("change", () => attempt(() => request("PUT", `/api/runs/${run.name}/label`, { label: label.value })));
    const mark = make("input", { type: "checkbox", "aria-label": `${words.mark}: ${run.name}`, disabled: !run.is_curve });
    mark.checked = marked.has(run.name);
    mark.addEventListener("change", () => { if (mark.checked) marked.add(run.name); else marked.delete(run.name); showMarked(); });
    const remove = make("button", { type: "button", class: "quiet", "aria-label": `${words.delete}: ${run.name}` }, words.delete);
    remove.addEventListener("click", () => {
      if (confirm(words.sure)) attempt(() => request("DELETE", `/api/runs/${run.name}`).then(load));
    });
    const link = (form) => make("a", { href: `/runs/${run.name}/${form}`, "aria-label": `${form.toUpperCase()}: ${run.name}` }, form.toUpperCase());
    return make("tr", { "data-run": run.name },
      make("th", { scope: "row" }, mark, " ", make("a", { href: `/runs/${run.name}`, title: run.name }, run.subject || run.name), make("small", {}, `${run.source} ${(run.started ?? "").slice(0, 16).replace("T", " ")}`)),
      make("td", { class: "l wrap" }, run.result), make("td", { class: "l" }, label),
      make("td", { class: "l actions" }, link("html"), " ", link("json"), " ", link("csv"), " ", remove));
  };
  const show = () => {
    const parts = $("#filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = runs.filter((run) => parts.every((part) => `${run.name} ${run.subject} ${run.label} ${run.result} ${run.source}`.toLowerCase().includes(part)));
    $("tbody", table).replaceChildren(...found.slice(0, 200).map(row));
    $("#none").hidden = runs.length > 0;
  };
  const load = async () => {
    runs = await request("GET", "/api/runs");
    for (const name of marked) if (!runs.some((run) => run.name === name)) marked.delete(name);
    showMarked();
    show();
  };
  $("#filter").addEventListener("input", show);
  $("#compare").addEventListener("click", () => {
    const [before, after] = markedNames();
    location.assign(`/compare/${before}/${after}`);
  });
  $("#overlay").addEventListener("click", () => location.assign(`/overlay/${markedNames().join(",")}`));
  attempt(load);

  // A measurement in progress is followed after a reload, too.
  attempt(async () => {
    const jobs = await request("GET", "/api/jobs"), named = location.hash.match(/^#job-(\d+)$/)?.[1];
    const found = jobs.find(({ id }) => String(id) === named) ?? jobs.find(({ running }) => running);
    if (found) follow(found.id, found.command);
    const volumes = await request("GET", "/api/control/v1/volumes");
    $("#volumes").replaceChildren(...volumes.flatMap(({ uris }) => uris.slice(0, 1)).map((uri) => make("option", { value: uri })));
  });
}
