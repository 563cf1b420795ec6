new MutationObserver(() => {
  if (document.documentElement.hasAttribute("data-waiting")) sessionStorage.setItem("waited", "yes");
}).observe(document.documentElement, { attributes: true });
