() => new Promise((done) => {
  const look = () => {
    if ("ready" in (document.getElementById("graph")?.dataset ?? {})) done(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})
