"use strict";
// The simulation of an article, with its progress.
{
  const card = $("#article");
  if (card) attempt(async () => {
    const path = `/api/articles/${card.dataset.name}`;
    const done = followPercent(path, (percent) => {
      $("#done").value = percent;
      setText($("#phase"), `${card.dataset.busy} ${percent} %`);
    });
    try {
      const { html } = await request("POST", path);
      // The fragment is made by the server and contains no script.
      $("#report").innerHTML = html;
      card.remove();
    } finally {
      done();
    }
  });
}
