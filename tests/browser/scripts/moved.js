async () => {
  const { picture } = await import("/static/js/graph/main.js");
  const begun = performance.now();
  let frames = 0;
  await new Promise((done) => {
    const step = () => {
      const now = (performance.now() - begun) / 1000;
      frames += 1;
      picture.pan(6 * Math.cos(3 * now), 6 * Math.sin(3 * now));
      picture.zoom(Math.exp(0.03 * Math.cos(2 * now)));
      if (now < 2) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  });
  return frames / 2;
}
