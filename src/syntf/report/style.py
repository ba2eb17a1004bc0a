"""The style of a report: a column that fits a phone, both themes, and pages of A4."""

CSS = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#4d5561;--page:#fff;--box:#f3f5f8;
--line:#c9d0d9;--a:#174a85;--b:#5f95cf;--c:#8d95a1;--warn:#8a1c1c;--warnbox:#fdeeee;
--note:#6a4a00;--notebox:#fdf5e0}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8ebef;--soft:#aeb6c1;--page:#14171b;
--box:#1f242b;--line:#3c444f;--a:#7cb8f5;--b:#4b7fb5;--c:#7a828d;--warn:#ff9c9c;--warnbox:#3a1d1f;
--note:#f0cf86;--notebox:#332a14}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:46rem;padding:1.25rem 1rem 3rem;background:var(--page);
color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.2rem;line-height:1.3;margin:2.4rem 0 .5rem;padding-top:.6rem;
border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.5rem 0 .3rem}
p,ul,ol{margin:.5rem 0}
ul,ol{padding-left:1.3rem}
li{margin:.25rem 0}
.soft,caption,figcaption{color:var(--soft);font-size:.9rem}
code{font:.9em ui-monospace,Consolas,monospace}
.lead{background:var(--box);border-radius:.5rem;padding:1rem 1.1rem;margin:1rem 0}
.lead .number{display:block;font-size:3rem;font-weight:700;line-height:1.1;color:var(--a)}
.lead .void{color:var(--soft)}
.lead .unit{display:block;color:var(--soft);margin-bottom:.5rem}
.lead p:last-child{margin-bottom:0}
.warn,.note{border-left:.3rem solid;border-radius:.25rem;padding:.6rem .9rem;margin:.8rem 0}
.warn{color:var(--warn);background:var(--warnbox)}
.note{color:var(--note);background:var(--notebox)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.94rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;
border-bottom:1px solid var(--line);font-weight:400}
thead th{color:var(--soft);font-size:.86rem}
.figures th,.figures td{overflow-wrap:normal}
.figures td,.figures thead th+th{text-align:right}
.figures tr.promised *{font-weight:700}
.facts tbody th{color:var(--soft);width:34%}
figure{margin:1rem 0}
.rows{list-style:none;padding:0;margin:.6rem 0;font-variant-numeric:tabular-nums}
.rows>li{display:grid;grid-template-columns:13rem 1fr 8.5rem;gap:.1rem .8rem;
align-items:center;margin:0;padding:.22rem 0}
.rows>li>:last-child{text-align:right;white-space:nowrap}
.rows.words>li{grid-template-columns:7.5rem 1fr 1.6fr}
.rows.words>li>:last-child{text-align:left;white-space:normal}
svg{display:block;width:100%;overflow:visible}
.bar,.stack{overflow:hidden;border-radius:2px}
.stack rect{stroke:var(--page);stroke-width:1.5}
rect.a{fill:var(--a)}rect.b{fill:var(--b)}rect.c{fill:var(--c)}
.track{padding:0 6px}
line.rule{stroke:var(--line);stroke-width:1}
line.way{stroke:var(--b);stroke-width:3}
line.floor{stroke:var(--ink);stroke-width:2;stroke-dasharray:3 3}
circle.before{fill:var(--page);stroke:var(--a);stroke-width:2}
circle.after{fill:var(--a)}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;font-size:.9rem}
.key svg{display:inline-block;width:18px;height:14px;vertical-align:-2px;margin-right:.4rem}
.ends{display:flex;justify-content:space-between;color:var(--soft);font-size:.86rem;
border-top:1px solid var(--line);padding-top:.15rem}
footer{margin-top:2.4rem;border-top:1px solid var(--line);padding-top:.6rem}
@media screen and (max-width:34rem){.rows>li{grid-template-columns:1fr auto}
.rows>li>svg{grid-column:1/-1;grid-row:2}
.rows.words>li{grid-template-columns:6.75rem 1fr}
.rows.words>li>svg{grid-column:2;grid-row:1}
.rows.words>li>:last-child{grid-column:1/-1}
.lead .number{font-size:2.4rem}.facts tbody th{width:42%}}
@page{size:A4;margin:16mm 15mm}
@media print{body{max-width:none;padding:0;font-size:10.5pt}
.lead,.warn,.note,.block,figure,p,tr,li,h1,h2,h3{break-inside:avoid}
h1,h2,h3,thead,p:has(+figure),p:has(+.rows){break-after:avoid}
.lead,.warn,.note{border:1px solid var(--line);border-left-width:.3rem}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
.wide{overflow:visible}}
"""
