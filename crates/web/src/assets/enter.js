"use strict";
// Exchanges the token in the fragment of the URL for a session cookie.
(async () => {
  const line = document.getElementById("entry"), token = location.hash.slice(1);
  history.replaceState(null, "", "/enter");
  const answer = await fetch("/api/enter", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }),
  });
  if (answer.ok) location.replace("/");
  else line.textContent = (await answer.json()).error;
})();
