() => {
  const plant = (tag, text, style) => {
    const made = document.createElement(tag);
    made.textContent = text;
    Object.assign(made.style, style);
    document.querySelector("main").append(made);
    return made;
  };
  plant("h1", "Two", {});
  plant("input", "", {}).removeAttribute("id");
  plant("button", "", { width: "3rem" });
  plant("p", "pale", { color: "#ccc", background: "#fff" });
  plant("div", "wide", { width: "200vw" });
}
