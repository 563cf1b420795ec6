// Follows an import that is under way, and shows the page again when it is done.

const shown = document.querySelector("[data-progress]");

async function follow() {
  const answer = await fetch("/api/v1/imports", { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const now = await answer.json();
  if (now.done === null) {
    location.reload();
    return;
  }
  const bar = shown.querySelector("progress");
  bar.max = now.total || 1;
  bar.value = now.done;
  shown.querySelector("[data-done]").textContent = now.done.toLocaleString();
  shown.querySelector("[data-total]").textContent = now.total.toLocaleString();
  setTimeout(follow, 1000);
}

if (shown) setTimeout(follow, 500);
