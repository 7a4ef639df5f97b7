"use strict";
// Uploads, and the ranking of a case with its sliders.
if ($("#upload")) {
  const input = $("#upload").elements.files, drop = $("#drop"), words = $("#cases").dataset;

  const send = (id, file, done) => new Promise((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open("PUT", `/api/reports/${id}`);
    call.setRequestHeader("content-type", "application/octet-stream");
    call.setRequestHeader("x-file-name", encodeURIComponent(file.name));
    call.upload.onprogress = ({ loaded }) => done(loaded);
    call.onerror = () => reject(new Error(`${file.name}: the connection is lost`));
    call.onload = () => {
      if (call.status < 300) return resolve();
      let text = call.statusText;
      try { text = JSON.parse(call.responseText).error; } catch { /* the status is all there is */ }
      reject(new Error(text));
    };
    call.send(file);
  });
  const upload = (files) => attempt(async () => {
    if (!files.length) return;
    const { id } = await request("POST", "/api/reports");
    const total = [...files].reduce((sum, file) => sum + file.size, 0);
    $("#uploading").hidden = false;
    let before = 0;
    try {
      for (const file of files) {
        setText($("#sending"), file.name);
        await send(id, file, (loaded) => { $("#sent").value = (before + loaded) / Math.max(1, total); });
        before += file.size;
      }
    } catch (error) {
      await request("DELETE", `/api/reports/${id}`).catch(() => {});
      throw error;
    } finally {
      $("#uploading").hidden = true;
    }
    location.assign(`/choose/${id}`);
  });
  input.addEventListener("change", () => upload(input.files));
  for (const name of ["dragover", "dragenter"]) drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); upload(event.dataTransfer.files); });

  const load = async () => {
    const cases = await request("GET", "/api/reports");
    const item = ({ id, files, bytes }) => {
      const remove = make("button", { type: "button", class: "quiet", "aria-label": `${words.delete}: ${id}` }, words.delete);
      remove.addEventListener("click", () => { if (confirm(words.sure)) attempt(() => request("DELETE", `/api/reports/${id}`).then(load)); });
      return make("li", {}, make("a", { href: `/choose/${id}` }, files.join(", ") || id), " ", make("span", { class: "lead" }, `${id}, ${bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : size(bytes)}`), " ", remove);
    };
    $("#cases").replaceChildren(...cases.map(item));
    $("#none").hidden = cases.length > 0;
  };
  attempt(load);
} else if ($("#case")) {
  const card = $("#case"), { case: id } = card.dataset, form = $("#wanted"), words = card.dataset, cache = $("#cache");
  let caches = [];
  // A reload keeps what is not in the reports.
  const { capacity } = form.elements, remembered = `capacity ${id}`;
  capacity.value = sessionStorage.getItem(remembered) ?? "";

  const wanted = () => {
    const { elements: fields } = form;
    const body = {
      capacity: fields.capacity.value, providers: fields.providers.value.split(",").map((name) => name.trim()).filter(Boolean),
      subject: fields.subject?.value ?? "", may_be_slower: fields.may_be_slower.checked,
      growth: Number(fields.growth.value), months: Number(fields.months.value), headroom: Number(fields.headroom.value), p99_ms: Number(fields.p99_ms.value),
    };
    const entry = caches[Number(fields.cache.value)];
    if (entry && !cache.hidden) body.reads_left = entry.reads_left;
    return body;
  };
  const labels = () => {
    for (const slider of $$(".slider", form)) {
      const input = $("input", slider);
      const entry = caches[Number(input.value)];
      setText($("output", slider), slider === cache ? (entry ? `${size(entry.bytes)}: ${Math.round(entry.reads_left * 100)} % ${words.reads}` : "") : input.value === "0" && input.dataset.zero || `${input.value} ${input.dataset.unit}`.trim());
    }
  };
  const emulate = (like) => attempt(async () => {
    const { volume } = await request("POST", `/api/reports/${id}/emulate`, { like, wanted: wanted() });
    location.assign(`/volumes/${encodeURIComponent(volume)}`);
  });
  const row = (choice) => {
    const reads = choice.latency.filter(([name]) => name.includes("read"));
    const mean = reads.length ? reads[0][1] : null;
    const button = make("button", { type: "button", "aria-label": `${words.emulate}: ${choice.like}` }, words.emulate);
    button.addEventListener("click", () => emulate(choice.like));
    return make("tr", { "data-like": choice.like },
      make("th", { scope: "row", title: choice.title }, ...breakable(choice.like), choice.machine ? make("small", {}, ...breakable(choice.machine)) : null,
        choice.slower ? make("small", { class: "slower" }, `▼ ${words.slower}`) : null, choice.meets ? null : make("small", { class: "missed" }, `▲ ${words.missed}`)),
      make("td", {}, choice.monthly ?? "–"), make("td", {}, choice.jpy ?? "–"), make("td", {}, three(choice.iops)),
      make("td", {}, choice.over == null ? "–" : `${Math.round((choice.over - 1) * 100)} %`), make("td", {}, time(mean)),
      make("td", { class: "l wrap" }, choice.limit ?? words.none), make("td", { class: "l" }, button));
  };
  // The table and the files are offered only with choices: there are none before the capacity is known.
  const results = [$("#choices").parentElement, $("#signs"), $("#terraform"), $("#file")];
  const offer = (choices) => {
    $("#choices tbody").replaceChildren(...choices.map(row));
    for (const part of results) part.hidden = !choices.length;
  };
  const show = (ranking, extent) => {
    $("#headline").replaceChildren(make("span", { class: `kind ${ranking.verdict}` }, ranking.word), ranking.headline);
    setText($("#remedy"), ranking.remedy);
    offer(ranking.choices);
    if (extent !== "report") return;
    if (ranking.caches && !caches.length) {
      caches = ranking.caches;
      cache.hidden = caches.length < 2;
      const input = $("input", cache);
      input.max = caches.length - 1;
      input.value = 0;
      labels();
    }
    if (ranking.html != null) {
      // The fragment is made by the server and contains no script.
      $("#report").innerHTML = ranking.html;
    }
  };
  // A slider searches among the leading products, then all are searched, then the report is made.
  const search = latest(async (signal, extents) => {
    if (words.missing && !capacity.value.trim()) {
      setText($("#headline"), words.missing);
      setText($("#remedy"), "");
      offer([]);
      $("#report").replaceChildren();
      setText($("#progress"), "");
      card.removeAttribute("aria-busy");
      capacity.setAttribute("aria-invalid", "true");
      return;
    }
    capacity.removeAttribute("aria-invalid");
    if ($("#headline").textContent === words.missing) setText($("#headline"), "");
    card.setAttribute("aria-busy", "true");
    try {
      for (const extent of extents) {
        const text = extent === "report" ? words.report : words.busy;
        const done = followPercent(`/api/reports/${id}/progress`, (percent) => setText($("#progress"), `${text} ${percent} %`));
        try {
          show(await request("POST", `/api/reports/${id}/size`, { ...wanted(), extent }, signal), extent);
        } finally {
          done();
        }
        trouble("");
      }
    } catch (error) {
      if (error.name === "AbortError") throw error;
      setText($("#headline"), error.message);
      setText($("#remedy"), "");
      offer([]);
      $("#report").replaceChildren();
    }
    setText($("#progress"), "");
    card.removeAttribute("aria-busy");
  });
  const whole = delayed(() => search(["ranking", "report"]), 600);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    labels();
    if (event.target === capacity) sessionStorage.setItem(remembered, capacity.value);
    if (event.target.type === "range") search(["leaders"]);
    whole();
  });
  $("#terraform").addEventListener("click", () => attempt(async () => {
    const text = await request("POST", `/api/reports/${id}/terraform`, wanted());
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: "volumes.tf" });
    link.click();
    URL.revokeObjectURL(link.href);
  }));
  labels();
  offer([]);
  search(["ranking", "report"]);
}
