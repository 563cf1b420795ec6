() => {
  const inert = "[disabled], [type=hidden], [tabindex='-1'], details:not([open]) > :not(summary) *";
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
    .filter((each) => !each.matches(inert) && each.checkVisibility({ visibilityProperty: true }));
  const left = new Set(all);
  const unseen = new Set();
  document.addEventListener("focusin", ({ target }) => {
    left.delete(target);
    // The label of a box, or the field around an input, may be what shows the focus.
    const shows = [target, target.closest("label"), target.parentElement].some((each) => {
      const style = each && getComputedStyle(each);
      return style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
    });
    if (!shows) unseen.add(target);
  });
  const told = (some, why) => [...some].map((each) => `${why}: ${each.outerHTML.slice(0, 120)}`);
  window.stops = { left, missed: () => [...told(left, "out of reach"), ...told(unseen, "unseen")] };
  return all.length;
}
