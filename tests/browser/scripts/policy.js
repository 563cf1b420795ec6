async () => {
  const stopped = [];
  addEventListener("securitypolicyviolation", (e) => stopped.push(e.effectiveDirective));
  const attempt = (work) => { try { work(); } catch (error) { stopped.push(error.name); } };
  attempt(() => { document.body.innerHTML = "<img src=x onerror='window.ran=1'>"; });
  attempt(() => { setTimeout("window.ran = 1", 0); });
  const script = document.createElement("script");
  attempt(() => { script.text = "window.ran = 1"; document.body.append(script); });
  const style = document.createElement("style");
  style.textContent = "body { display: none }";
  document.body.append(style);
  const frame = document.createElement("iframe");
  frame.src = "https://evil.test/";
  document.body.append(frame);
  await new Promise((done) => setTimeout(done, 200));
  return { ran: window.ran ?? 0, stopped: stopped.length,
           shown: getComputedStyle(document.body).display !== "none" };
}
