// Conveniences of the console; every page works without them.
"use strict";

// On a narrow screen the sections stand in a row that scrolls: the present one is brought into sight.
for (const present of document.querySelectorAll(".sections [aria-current]")) {
  present.parentElement.scrollLeft = present.offsetLeft - present.parentElement.firstElementChild.offsetLeft;
}

// A copy button beside a value: <button data-copy="id of the element">. Where a page may not use the clipboard
// (a browser offers it to pages with TLS alone), the value is selected, and the button says so.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const value = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(value.textContent);
      button.textContent = button.dataset.copied;
    } catch {
      getSelection().selectAllChildren(value);
      button.textContent = button.dataset.selected;
    }
  });
}

// Ticks every row of a list, or none: <button data-tick-all> in the list's form.
for (const button of document.querySelectorAll("[data-tick-all]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const boxes = [...button.form.querySelectorAll("input[type=checkbox]")];
    const isAll = boxes.every((box) => box.checked);
    for (const box of boxes) box.checked = !isAll;
  });
}

// A form is sent once, however often its button is pressed; coming back to its page frees it.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if ("sent" in form.dataset) event.preventDefault();
    form.dataset.sent = "";
  });
  addEventListener("pageshow", () => delete form.dataset.sent);
}

// Whether two nodes stand for the same thing: a link that leads elsewhere is another one.
const isSame = (one, other) => one instanceof Element && one.nodeName === other.nodeName
  && ["id", "href", "aria-label"].every((name) => one.getAttribute(name) === other.getAttribute(name));

// Makes a shown element like a fresh one. What does not differ is left alone, with its focus, its selected text and
// its place in what scrolls.
function renew(shown, fresh) {
  for (const name of [...shown.getAttributeNames(), ...fresh.getAttributeNames()]) {
    if (!fresh.hasAttribute(name)) shown.removeAttribute(name);
    else if (shown.getAttribute(name) !== fresh.getAttribute(name)) shown.setAttribute(name, fresh.getAttribute(name));
  }
  const [old, now] = [[...shown.childNodes], [...fresh.childNodes]];
  // New rows stand at an end of their table, so that the others are found from the other end.
  const isEqual = (one, other) => one && other && one.isEqualNode(other);
  while (isEqual(old[0], now[0])) for (const nodes of [old, now]) nodes.shift();
  let after = null;
  while (isEqual(old.at(-1), now.at(-1))) {
    after = old.pop();
    now.pop();
  }
  for (const [index, node] of now.entries()) {
    if (index >= old.length) shown.insertBefore(node, after);
    else if (isSame(old[index], node)) renew(old[index], node);
    else old[index].replaceWith(node);
  }
  for (const node of old.slice(now.length)) node.remove();
}

// The same with the focus: where what had it has gone, it is on its like, or where the page's content begins.
function renewWithFocus(region, fresh) {
  const focused = document.activeElement;
  const wasInside = region.contains(focused);
  renew(region, fresh);
  if (!wasInside || focused.isConnected) return;
  const like = [...region.querySelectorAll(focused.localName)].find((it) => isSame(it, focused));
  (like ?? region.closest("[tabindex]") ?? document.body).focus({ preventScroll: true });
}

// A region that changes by itself: <section id="…" data-live="seconds">. The page is read again, and only what
// changed is replaced, under its reader's hands too. It rests while nobody looks. When it cannot be read, a notice
// says that what is shown may be old: <p data-stale="again"> while it is tried again, <p data-stale="ended"> when
// it is not.
for (const region of document.querySelectorAll("[data-live]")) {
  const wait = Number(region.dataset.live) * 1000;
  const tell = (state) => {
    for (const notice of document.querySelectorAll("[data-stale]")) notice.hidden = notice.dataset.stale !== state;
  };
  const refresh = async () => {
    try {
      if (!document.hidden) {
        const answer = await fetch(location.href, { headers: { accept: "text/html" } });
        // Its database may be away for the moment, too.
        if (answer.status >= 500) throw answer;
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = answer.ok && !answer.redirected ? page.getElementById(region.id) : null;
        tell(fresh ? "" : "ended");
        if (!fresh) return;
        renewWithFocus(region, fresh);
        if (!("live" in fresh.dataset)) return;
      }
    } catch {
      tell("again");
    }
    setTimeout(refresh, wait);
  };
  setTimeout(refresh, wait);
}
