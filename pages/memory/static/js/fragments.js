// Parts of a page, as the server writes them for another address.

import { ask, awaited, ended, isFramed, note } from "./place.js";

// Reads a page; nothing in it runs, and nothing of it is loaded.
export async function read(address) {
  if (isFramed) return new DOMParser().parseFromString((await awaited(ask(address))).text, "text/html");
  return awaited(new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => {
      if (new URL(request.responseURL).pathname === "/login") ended();
      resolve(request.response);
    };
    request.onerror = () => reject(new Error(`${address} cannot be read`));
    request.send();
  }));
}

// Puts parts of a page in the place of our own.
export function replace(page, ids) {
  const parts = ids.map((id) => page?.getElementById(id));
  if (parts.includes(null) || parts.includes(undefined)) throw new Error("it is another page");
  for (const part of parts) document.getElementById(part.id).replaceWith(document.adoptNode(part));
}

let asked = 0;

// Shows parts of the page as they are at another address: the page there, unless yet another
// one was asked for meanwhile.
export async function renew(address, ids) {
  const turn = ++asked;
  try {
    const page = await read(address);
    if (turn !== asked) return null;
    replace(page, ids);
    note(address);
    return page;
  } catch (error) {
    if (turn !== asked) return null;
    throw error;
  }
}
