// A list of notes that follows a hub. Edit it in two windows, or beside a terminal.
const find = (selector, root = document) => root.querySelector(selector);

const { url, token } = await connection();
// The hub serves its client; a page of your own can also keep a copy of the file.
const { StorageKitClient } = await import(`${url}/storagekit.js`);

const client = new StorageKitClient({ url, token });
const notes = client.collection("notes");

// MARK: The list

notes.subscribe((documents, { pending }) => {
  const list = find("#notes");
  const shown = new Map([...list.children].map((item) => [item.dataset.id, item]));
  for (const note of documents) {
    const item = shown.get(note.id) ?? newItem(note.id);
    shown.delete(note.id);
    item.className = `${note.done ? "done" : ""} ${pending.has(note.id) ? "pending" : ""}`;
    find("[type=checkbox]", item).checked = Boolean(note.done);
    const title = find("[type=text]", item);
    // Nobody's text changes while they type it.
    if (document.activeElement !== title) title.value = note.title ?? "";
    if (!item.isConnected) list.append(item);
  }
  for (const item of shown.values()) item.remove();
});

function newItem(id) {
  const item = find("#note").content.cloneNode(true).firstElementChild;
  item.dataset.id = id;
  find("[type=checkbox]", item).onchange = ({ target }) => notes.update(id, { done: target.checked });
  find("[type=text]", item).oninput = ({ target }) => notes.update(id, { title: target.value });
  find("button", item).onclick = () => notes.delete(id);
  return item;
}

find("#new").onsubmit = async (event) => {
  event.preventDefault();
  const { title } = event.target.elements;
  // Ids that begin with the time keep the list in the order of its making.
  await notes.save({ id: `${Date.now()}-${crypto.randomUUID().slice(0, 8)}`, title: title.value, done: false });
  title.value = "";
};

// MARK: How it goes

client.addEventListener("status", showStatus);
showStatus();

async function showStatus() {
  const { state, pending, parked, lastError } = client.status;
  const waiting = pending > 0 ? `, ${pending} to send` : "";
  find("#status").textContent = `${state}${waiting}`;
  find("#status").title = lastError?.message ?? "";
  if (state === "unauthorized") {
    await connection(true);
    location.reload();
  }
  const refused = parked > 0 ? await client.parked() : [];
  find("#parked").replaceChildren(...refused.map(({ origin, fields, reason, detail }) => {
    const item = find("#refused").content.cloneNode(true).firstElementChild;
    find("span", item).textContent = `${fields?.title ?? "A change"}: ${detail ?? reason}`;
    find("button", item).onclick = () => client.discard(origin);
    return item;
  }));
}

/** The hub's address and a token, which are kept in this tab. */
function connection(isRefused = false) {
  const kept = JSON.parse(sessionStorage.getItem("hub"));
  if (kept && !isRefused) return kept;
  const dialog = find("#connect");
  const { url, token } = dialog.firstElementChild.elements;
  url.value = kept?.url ?? "http://127.0.0.1:8080";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const hub = { url: url.value.replace(/\/+$/, ""), token: token.value };
      sessionStorage.setItem("hub", JSON.stringify(hub));
      resolve(hub);
    }, { once: true });
  });
}
