"use strict";
// The page says everything without this; it adds a readout under the pointer and a copy button.
for (const figure of document.querySelectorAll("figure")) {
  const tip = document.createElement("div");
  tip.className = "tip"; tip.hidden = true; figure.append(tip);
  let lit = null;
  const show = (text, x, y) => {
    tip.textContent = text; tip.hidden = false;
    const room = figure.clientWidth - tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(room, x - tip.offsetWidth / 2)) + "px";
    tip.style.top = (y - tip.offsetHeight - 14) + "px";
  };
  const light = (point) => {
    lit?.classList.remove("on"); lit = point; lit?.classList.add("on");
    if (!point) tip.hidden = true;
  };
  for (const title of figure.querySelectorAll("[data-tip] > title")) title.remove();
  for (const svg of figure.querySelectorAll("svg.chart")) {
    const points = [...svg.querySelectorAll(".pt")];
    svg.addEventListener("pointerleave", () => light(null));
    svg.addEventListener("pointermove", (event) => {
      const matrix = svg.getScreenCTM(), box = figure.getBoundingClientRect();
      if (!matrix) return;
      let best = null, least = 40;
      for (const point of points) {
        const x = matrix.a * point.dataset.x + matrix.e, y = matrix.d * point.dataset.y + matrix.f;
        const far = Math.hypot(event.clientX - x, event.clientY - y);
        if (far < least) { least = far; best = { point, x: x - box.left, y: y - box.top }; }
      }
      const area = best ? null : event.target.closest("[data-tip]");
      light(best?.point ?? null);
      if (best) show(best.point.dataset.tip, best.x, best.y);
      else if (area) show(area.dataset.tip, event.clientX - box.left, event.clientY - box.top);
    });
  }
}
const [copy, copied, selected] = document.documentElement.lang === "ja" ? ["コピー", "コピー済み", "選択済み"] : ["Copy", "Copied", "Selected"];
for (const block of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button"; button.className = "copy"; button.textContent = copy;
  button.addEventListener("click", async () => {
    const pre = block.querySelector("pre");
    try { await navigator.clipboard.writeText(pre.textContent); button.textContent = copied; }
    catch { getSelection().selectAllChildren(pre); button.textContent = selected; }
  });
  block.append(button);
}
