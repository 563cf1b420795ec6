async () => {
  console.error("oh no");
  setTimeout(() => { throw new Error("thrown"); });
  alert(1);
  await new Promise((done) => setTimeout(done));
}
