() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d");
  canvas.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
  canvas.fillRect(0, 0, 1, 1);
  const colour = canvas.getImageData(0, 0, 1, 1).data.slice(0, 3);
  return {
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    brightness: colour.reduce((a, b) => a + b) / 765,
    headings: document.querySelectorAll("h1").length,
  };
}
