async () => {
  const { picture, model } = await import("/static/js/graph/main.js");
  const box = picture.canvas.getBoundingClientRect();
  const at = ({ x, y }) => [Math.round(box.left + x), Math.round(box.top + y)];
  return Object.fromEntries(model.visible.map((node) => [node.name, at(picture.placeOf(node.id))]));
}
