/*
 * The gallery: of each entry of gallery.json a card on the page and a small page of its own, gallery/NAME.html, whose
 * link opens the page with the entry's runs. The pictures are those of docs/figures/gallery (`make figures
 * FIGURES=gallery`).
 *
 * A site on which such a link is posted shows the Open Graph card of the page (https://ogp.me): title, question, and a
 * picture. A card's picture has an absolute address, so there are pictures only if the page's future address is known.
 * Chromium draws them.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const PICTURES = join(HERE, "../../../docs/figures/gallery");
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
const CARD = { width: 1200, height: 630 }; // what the sites that show cards ask for
const ONLY_STEPS = ["min", "vmin"]; // policies of the stepper that no machine has

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** The entries whose policies all exist: a student's tree lacks some. */
function entries(policies) {
  const known = [...policies, ...ONLY_STEPS];
  const all = JSON.parse(readFileSync(join(HERE, "gallery.json"), "utf8"));
  return all.filter(({ link }) => {
    const words = new URLSearchParams(link.slice(1));
    return (words.get("step") ?? words.get("vm")).split(",").every((name) => known.includes(name));
  });
}

/** Checks the address that the page will have: URL= of make. "" if none is given. */
function address(url) {
  if (!url) return "";
  if (!/^https?:\/\/[^\s"'<>?#]+$/.test(url) || !URL.canParse(url))
    throw new Error(`URL=${url}: give the address that the page will have, such as https://example.org/tidemark`);
  return url.replace(/\/$/, "");
}

/** The Open Graph elements of a page; `to`: its address below `url`, `name`: its entry, for the picture. */
function card(url, to, { name, title, question }) {
  const picture = url && {
    "og:url": `${url}/${to}`,
    "og:image": `${url}/gallery/${name}.png`,
    "og:image:width": CARD.width,
    "og:image:height": CARD.height,
    "og:image:alt": question,
  };
  const said = { "og:type": "article", "og:site_name": "Tidemark", "og:title": title, "og:description": question };
  const lines = Object.entries({ ...said, ...picture }).map(
    ([property, content]) => `<meta property="${property}" content="${escaped(String(content))}">`,
  );
  if (url) lines.push('<meta name="twitter:card" content="summary_large_image">');
  return lines.join("\n");
}

const figure = ({ name, title }, folder, lazy = "") =>
  `<img src="${folder}${name}.svg" alt="${escaped(`${title}: what the runs came to`)}"${lazy}>`;

/** The page of one entry. */
const ownPage = (entry, url) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escaped(entry.question)}">
<title>${escaped(entry.title)}: Tidemark</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="../style.css">
${card(url, `gallery/${entry.name}.html`, entry)}
</head>
<body>
<main class="entry">
<h1>${escaped(entry.title)}</h1>
<p class="question">${escaped(entry.question)}</p>
${figure(entry, "")}
<p>${escaped(entry.answer)}</p>
<p><a class="chief" href="${escaped(`../index.html${entry.link}`)}">Run it in the browser</a></p>
<p class="faint"><a href="../index.html#gallery">The gallery</a> of <a href="../index.html">Tidemark</a>, a small kernel
for courses on operating systems.</p>
</main>
</body>
</html>
`;

/** The card of one entry in the page's gallery. */
const onPage = (entry) => `<li class="card">
<h3>${escaped(entry.title)}</h3>
<p class="question">${escaped(entry.question)}</p>
${figure(entry, "gallery/", ' loading="lazy"')}
<p><a href="${escaped(entry.link)}">Run it here</a> <a href="gallery/${entry.name}.html">Answer, and a link to share</a></p>
</li>`;

/** What a card's picture shows: the question, and the figure as large as it fits. */
const poster = (entry) => `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; width: ${CARD.width}px; height: ${CARD.height}px; padding: 40px 56px; box-sizing: border-box; background: #fff; color: #1d1d1f;
  font: 30px/1.3 system-ui, "DejaVu Sans", sans-serif; display: flex; flex-direction: column; gap: 14px; overflow: hidden; }
b { font-size: 24px; color: #0060a0; } p { margin: 0; font-weight: 600; } img { flex: 1; min-height: 0; object-fit: contain; }
</style><b>Tidemark · ${escaped(entry.title)}</b><p>${escaped(entry.question)}</p>
<img src="${pathToFileURL(join(PICTURES, `${entry.name}.svg`))}">`;

function browser() {
  const found = BROWSERS.find((name) => spawnSync(name, ["--version"]).status === 0);
  if (!found) throw new Error("URL= has the cards drawn by Chromium, which is not installed: apt-get install chromium");
  return found;
}

/** Draws the pictures of the cards into `out`. */
function drawCards(all, out) {
  const program = browser();
  const work = mkdtempSync(join(tmpdir(), "tidemark-cards-"));
  const alone = process.getuid() === 0 ? ["--no-sandbox"] : []; // root has no sandbox
  try {
    for (const entry of all) {
      const [file, picture] = [join(work, `${entry.name}.html`), join(out, `${entry.name}.png`)];
      writeFileSync(file, poster(entry));
      const size = `--window-size=${CARD.width},${CARD.height}`;
      const flags = ["--headless", ...alone, "--hide-scrollbars", `--user-data-dir=${work}/profile`, size];
      execFileSync(program, [...flags, `--screenshot=${picture}`, pathToFileURL(file).href], { stdio: "ignore" });
      if (!existsSync(picture) || !statSync(picture).size) throw new Error(`${program} drew no ${picture}`);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Makes OUT/gallery. Returns the HTML of the page's gallery and of its card. `url`: the address that the page will
 * have, or "".
 */
export function gallery(out, policies, url) {
  const [all, home, folder] = [entries(policies), address(url), join(out, "gallery")];
  rmSync(folder, { recursive: true, force: true });
  cpSync(PICTURES, folder, { recursive: true });
  for (const entry of all) writeFileSync(join(folder, `${entry.name}.html`), ownPage(entry, home));
  if (home) drawCards(all, folder);
  else console.log("  PAGE  without URL=https://... the gallery's pages have cards without a picture");
  const first = {
    name: "cliff",
    title: "Tidemark: two policies, one memory",
    question: "A kernel that thrashes in your browser: two page-replacement policies race in the same memory.",
  };
  const known = all.some(({ name }) => name === first.name);
  return { list: all.map(onPage).join("\n"), card: card(known ? home : "", "index.html", first) };
}
