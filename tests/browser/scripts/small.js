() => [...document.querySelectorAll("#content :is(a, button, summary, select, input)")]
  .filter((each) => !each.closest("label, .hidden-if-scripted, .away"))
  .filter((each) => {
    const { width, height } = each.getBoundingClientRect();
    return width > 2 && height > 2 && (width < 23.5 || height < 23.5);
  })
  .map((each) => `${each.tagName} ${each.textContent}`)
