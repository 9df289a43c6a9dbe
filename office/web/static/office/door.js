// The ways in: the shared key handler, and the language of the page following the language chosen for the office.

import "./keys.js";

for (const radio of document.querySelectorAll("[data-language-choice] input")) {
  radio.addEventListener("change", () => {
    const typed = {};
    for (const name of ["name", "email"]) typed[name] = document.getElementById(name)?.value || "";
    sessionStorage.setItem("office:door", JSON.stringify(typed));
    location.search = `?language=${radio.value}`;
  });
}

const kept = JSON.parse(sessionStorage.getItem("office:door") || "null");
if (kept) {
  for (const [name, value] of Object.entries(kept)) {
    const field = document.getElementById(name);
    if (field && !field.value) field.value = value;
  }
  sessionStorage.removeItem("office:door");
}

for (const form of document.forms) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
// A page shown again from the browser's memory can be sent again.
addEventListener("pageshow", () => [...document.forms].forEach((form) => delete form.dataset.sent));

const wrong = document.querySelector("[aria-invalid=true]");
(wrong || (document.querySelector(".form-error") && document.getElementById("password")))?.focus();
