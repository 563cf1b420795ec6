// A file that is sent in: the page shows how far it is. A memory that is opened anew: the page
// goes on as soon as it is there.

import { EVERY, go, isFramed, look, pass } from "./place.js";

const sending = document.querySelector("[data-send]");

const OWN = { 401: "ended", 403: "stale" }; // refusals whose words are for programs

const proof = document.querySelector("meta[name=csrf-token]").content;

function failed(reason) {
  sending.classList.add("failed");
  document.getElementById("send-state").textContent = sending.dataset.failed.replace("{reason}", reason);
  Object.assign(sending.elements.file, { disabled: false, value: "" }); // else the same is no change
}

function received(status, answer) {
  if (status === 200) go(`/data/import?${new URLSearchParams({ name: answer.name })}`);
  else failed(sending.dataset[OWN[status]] ?? answer?.detail ?? status);
}

// fetch does not say how much of a request was sent.
function send(file) {
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    document.getElementById("send-state").textContent = `${Math.round((100 * loaded) / (total || 1))} %`;
  });
  request.addEventListener("load", () => received(request.status, request.response));
  request.addEventListener("error", () => failed(sending.dataset.broken));
  request.open("POST", `/api/v1/imports/files?${new URLSearchParams({ name: file.name })}`);
  request.responseType = "json";
  request.setRequestHeader("X-CSRF-Token", proof);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.send(file);
}

// The dashboard, which sends it for a frame, does not say how far it is.
async function hand(file) {
  document.getElementById("send-state").textContent = "…";
  try {
    const { status, text } = await pass.in(file, proof);
    received(status, text && JSON.parse(text));
  } catch (error) {
    failed(error.message);
  }
}

if (sending) {
  sending.hidden = false;
  sending.elements.file.addEventListener("change", ({ target }) => {
    const [file] = target.files;
    if (!file) return;
    sending.classList.remove("failed");
    target.disabled = true;
    const { most, large } = sending.dataset;
    if (file.size > most) failed(large.replace("{name}", file.name)); // not after an hour of sending
    else (isFramed ? hand : send)(file);
  });
  addEventListener("pageshow", () => sending.reset());
}

// What has happened says in which run of the server.
async function goOn(link) {
  const { status, text } = await look().catch(() => ({ status: 0 }));
  if (status === 200 && JSON.parse(text).run !== JSON.parse(document.body.dataset.marks).run) go(link.getAttribute("href"), "replace");
  else setTimeout(goOn, EVERY, link);
}

const anew = document.querySelector("[data-anew]");
if (anew) goOn(anew);
