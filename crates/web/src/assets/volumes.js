"use strict";
// The overview of all volumes, and the form that creates one.
{
  const table = $("#volumes"), body = $("tbody", table), rows = new Map();
  const words = table.dataset;

  const spark = () => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of [["viewBox", "0 0 120 22"], ["class", "spark"], ["aria-hidden", "true"], ["preserveAspectRatio", "none"]]) svg.setAttribute(name, value);
    svg.append(line);
    return { svg, line };
  };

  const row = (name) => {
    const known = rows.get(name);
    if (known) return known;
    const cells = Object.fromEntries(["iops", "mbps", "p50", "p99", "depth", "last", "verdict", "size", "cost"].map((key) => [key, make("td", { class: ["last", "verdict"].includes(key) ? "l" : null })]));
    const { svg, line } = spark(), like = make("small");
    cells.last.append(svg);
    const element = make("tr", { "data-volume": name }, make("th", { scope: "row" }, make("a", { href: `/volumes/${encodeURIComponent(name)}` }, name), like), ...Object.values(cells));
    const after = [...rows.keys()].sort().find((other) => other > name);
    body.insertBefore(element, after ? rows.get(after).element : null);
    const made = { element, cells: { ...cells, like }, line, rates: new Rates(), history: [], second: 0 };
    rows.set(name, made);
    return made;
  };

  const show = (volume, at) => {
    const { cells, line, rates, history, ...mine } = row(volume.name);
    const { iops, bytes } = rates.add(at, volume.ops, volume.bytes);
    const last = volume.last, isIdle = !iops;
    setText(cells.like, volume.writable ? volume.like : `${volume.like} (${words.snapshot})`);
    setText(cells.size, size(volume.size_bytes));
    setText(cells.iops, three(iops ?? 0));
    setText(cells.mbps, megabytes(bytes ?? 0));
    setText(cells.p50, isIdle ? "–" : time(last?.p50_ns));
    setText(cells.p99, isIdle ? "–" : time(last?.p99_ns));
    setText(cells.depth, String(volume.in_flight));
    setText(cells.verdict, fidelity(last, isIdle));
    setText(cells.cost, money(volume.cost));
    const second = Math.floor(at / 1000);
    if (second !== mine.second && iops != null) {
      rows.get(volume.name).second = second;
      history.push(iops);
      if (history.length > 60) history.shift();
      const most = Math.max(1, ...history);
      line.setAttribute("points", history.map((value, index) => `${index * 2},${(21 - 20 * value / most).toFixed(1)}`).join(" "));
    }
    return { iops: iops ?? 0, bytes: bytes ?? 0 };
  };

  stream("/events/volumes", {
    volumes: ({ at_ms, volumes }) => {
      const names = new Set(volumes.map(({ name }) => name));
      for (const [name, { element }] of rows) if (!names.has(name)) { element.remove(); rows.delete(name); }
      const sum = { iops: 0, bytes: 0 }, costs = new Map();
      let faithful = 0, busy = 0;
      for (const volume of volumes) {
        const rates = show(volume, at_ms);
        sum.iops += rates.iops;
        sum.bytes += rates.bytes;
        if (volume.cost) costs.set(volume.cost[1], (costs.get(volume.cost[1]) ?? 0) + Number(volume.cost[0]));
        if (rates.iops && volume.last) { busy += 1; faithful += isFaithful(volume.last); }
      }
      $("#none").hidden = volumes.length > 0;
      setText($("#sum-volumes"), String(volumes.length));
      setText($("#sum-iops"), three(sum.iops));
      setText($("#sum-mbps"), megabytes(sum.bytes));
      setText($("#sum-cost"), [...costs].map(([currency, amount]) => money([amount, currency])).join(" + ") || "–");
      setText($("#sum-faithful"), busy ? `${faithful} / ${busy}` : "–");
    },
    trouble: ({ error }) => trouble(error),
  });

  // Create ------------------------------------------------------------------------------------------------------------
  const form = $("#create"), like = form.elements.like, list = $("#products");
  const level = $("[data-slider=level]", form), amount = $("[data-slider=size]", form);
  let products = [], chosen = -1, shown = null, base = "";

  const message = (text) => setText($("[data-figure=message]", form), text);
  const figures = latest(async (signal, change) => {
    if (!like.value.trim()) { showFigures(form, null); message(""); level.hidden = amount.hidden = true; return; }
    try {
      const found = await request("POST", "/api/figures", { like: like.value, ...change }, signal);
      shown = found;
      showFigures(form, found);
      message(found.title);
      level.hidden = !found.level;
      if (found.level) {
        const input = $("input", level);
        setRange(input, found.level);
        setText($(".name", level), found.level.name);
        setText($("output", level), String(found.level.value));
      }
      amount.hidden = false;
      if (base !== like.value) { $("input", amount).value = positionOf(found.capacity_bytes); base = like.value; }
      setText($("output", amount), size(found.capacity_bytes));
    } catch (error) {
      if (error.name === "AbortError") throw error;
      shown = null;
      showFigures(form, null);
      message(error.message);
      level.hidden = amount.hidden = true;
    }
  });
  const change = (isFinal) => {
    const wanted = {};
    if (!level.hidden) wanted.level = Number($("input", level).value);
    if (!amount.hidden && sizeAt($("input", amount).value) !== 0 && amount.dataset.moved) wanted.size_bytes = sizeAt($("input", amount).value);
    return figures(wanted).then(() => {
      if (isFinal && shown) { like.value = base = shown.like; delete amount.dataset.moved; }
    });
  };
  for (const slider of [level, amount]) {
    $("input", slider).addEventListener("input", () => { if (slider === amount) amount.dataset.moved = "1"; change(false); });
    $("input", slider).addEventListener("change", () => change(true));
  }

  const close = () => { list.hidden = true; chosen = -1; like.setAttribute("aria-expanded", "false"); like.removeAttribute("aria-activedescendant"); };
  const pick = (product) => { like.value = product.example; close(); figures({}); };
  const search = () => {
    const parts = like.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = parts.length && !like.value.includes(":") ? products.filter(({ name, title }) => parts.every((part) => `${name} ${title}`.toLowerCase().includes(part))).slice(0, 8) : [];
    list.replaceChildren(...found.map((product, index) => make("li", { role: "option", id: `option${index}`, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); pick(product); } }, make("strong", {}, product.name), " ", product.title)));
    list.hidden = !found.length;
    like.setAttribute("aria-expanded", String(!list.hidden));
    chosen = -1;
    return found;
  };
  let offered = [];
  like.addEventListener("input", () => { offered = search(); figures({}); });
  like.addEventListener("blur", close);
  like.addEventListener("keydown", (event) => {
    if (list.hidden || !["ArrowDown", "ArrowUp", "Enter", "Escape"].includes(event.key)) return;
    if (event.key === "Escape") return close();
    if (event.key === "Enter") { if (chosen >= 0) { event.preventDefault(); pick(offered[chosen]); } return; }
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1) + (chosen < 0 && event.key === "ArrowUp" ? 1 : 0)) % offered.length;
    $$("li", list).forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
    like.setAttribute("aria-activedescendant", `option${chosen}`);
  });
  request("GET", "/api/products").then((all) => { products = all; });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      const body = { name: form.elements.name.value, like: like.value };
      if (form.elements.group?.value) body.group = form.elements.group.value;
      await request("POST", "/api/control/v1/volumes", body);
      location.assign(`/volumes/${encodeURIComponent(body.name)}`);
    });
  });
  $("#group").addEventListener("submit", (event) => {
    event.preventDefault();
    const { name, like } = event.target.elements;
    attempt(async () => {
      await request("POST", "/api/control/v1/groups", { name: name.value, like: like.value });
      location.reload();
    });
  });
  for (const button of $$("[data-action=delete-group]")) {
    button.addEventListener("click", () => attempt(async () => {
      await request("DELETE", `/api/control/v1/groups/${encodeURIComponent(button.dataset.name)}`);
      location.reload();
    }));
  }
}
