// Light or dark theme: follows the system until the button is used. Only that choice is stored.
"use strict";

const root = document.documentElement;
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches;
}

function chosenTheme() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null; // storage may be disabled
  }
}

if (chosenTheme()) root.dataset.theme = chosenTheme();

document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // the choice then lasts until the page is closed
    }
    label();
  });
  systemDark.addEventListener("change", label);
  label();
});
