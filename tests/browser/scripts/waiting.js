new MutationObserver(() => {
  if (document.documentElement.hasAttribute("data-waiting")) sessionStorage.setItem("waited", "yes");
}).observe(document.documentElement, { attributes: true });
// Writing down an address, as the graph's picture does when it rests, ends no waiting.
addEventListener("submit", async () => {
  const { note } = await import("/static/js/place.js");
  setTimeout(() => note("?noted=yes"));
});
