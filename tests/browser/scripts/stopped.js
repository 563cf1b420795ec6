new Promise((done) => {
  document.querySelector("button[value^='pin ']").click();
  setTimeout(() => stop(), 100);
  setTimeout(() => done(document.querySelectorAll("[data-sent], [aria-busy]").length), 900);
});
