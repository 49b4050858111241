// Style and script of an HTML report. On paper: A4 across, the first page alone, small type, headings with what they
// head, table heads on every page, and nothing of what is folded but that it is there.
#pragma once

#include <string_view>

namespace swinscope {

inline constexpr std::string_view kReportStyle = R"(
:root{color-scheme:light dark;--ink:#1a1a1a;--muted:#5f5f5f;--grid:#ddd;--page:#fff;--box:#f4f6f8;--accent:#0072B2}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--muted:#a8a8a8;--grid:#444;--page:#161616;--box:#222;--accent:#56B4E9}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:84rem;margin:1.5rem auto;padding:0 1rem;overflow-wrap:anywhere}
a{color:var(--accent)}
h1{font-size:1.5rem;margin:0 0 .6rem}h2{font-size:1.15rem;margin:1.4rem 0 .4rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
section>h2{border-bottom:1px solid var(--grid);margin-top:2.2rem}.first>h2,.two h2{border:0;margin-top:.6rem}
p{margin:.3rem 0}.evidence,.note,figcaption,.definition{color:var(--muted);font-size:.85rem}
.definition{max-width:60rem;margin:0 0 .4rem}
.cards{display:flex;flex-wrap:wrap;gap:.6rem}.card{background:var(--box);border-left:4px solid var(--accent);padding:.35rem .8rem;min-width:7rem}
.card span{display:block;color:var(--muted);font-size:.82rem}.card b{font-size:1.2rem;font-weight:600}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:0 2rem}.two>div{min-width:0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem}
.wide{overflow-x:auto}th,td{padding:.16rem .55rem;text-align:right;border-bottom:1px solid var(--grid);vertical-align:top}
td{white-space:nowrap}th{color:var(--muted);font-weight:600;overflow-wrap:normal}th button{all:unset;cursor:pointer}
th button:focus-visible,summary:focus-visible{outline:2px solid}td.t,th.t{text-align:left;white-space:normal}
.wide td.t{min-width:4rem;overflow-wrap:break-word}.wide td.t:first-child,.wide td.t:last-child{min-width:11rem;overflow-wrap:anywhere}.facts th{white-space:nowrap}
.charts{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem}figure{margin:.4rem 0;min-width:0}
.charts figure{flex:1 1 19rem;max-width:28rem}.charts svg{width:100%}.charts figure.waterfall{flex:1 1 100%;max-width:60rem}
svg{max-width:100%;height:auto;display:block}summary{cursor:pointer;color:var(--muted);font-size:.85rem}
nav ol{columns:3 16rem;margin:.2rem 0;padding-left:1.4rem}
@page{size:A4 landscape;margin:9mm 10mm}
@media print{
:root{color-scheme:light;--ink:#000;--muted:#555;--grid:#ccc;--page:#fff;--box:#f4f6f8;--accent:#0072B2}
body{font-size:8pt;line-height:1.35;margin:0;max-width:none;padding:0}a{color:inherit;text-decoration:none}
h1{font-size:14pt;margin:0 0 3pt}h2{font-size:11pt;margin:6pt 0 2pt}section>h2{margin-top:10pt}h3{font-size:9pt;margin:6pt 0 1pt}p{margin:1.5pt 0}
.first{break-after:page}nav{break-inside:avoid}h1,h2,h3,.definition{break-after:avoid}
tr,figure,.card,.facts,.short{break-inside:avoid}th button{display:contents}thead{display:table-header-group;break-inside:avoid}th{position:static}
.wide{overflow:visible}table{font-size:7pt}th,td{padding:.8pt 3pt}
.wide td.t,.wide td.t:last-child{min-width:0}.wide td.t:first-child{min-width:70pt}
.first .two{margin-bottom:2pt}.two{grid-template-columns:1fr 1fr;gap:0 14pt}.card{padding:2pt 6pt;border-left-width:3px}.card b{font-size:11pt}
.evidence,.note,figcaption,.definition,summary{font-size:7pt}figure{margin:2pt 0}
.charts{gap:2pt 8pt}.charts figure{width:31%;flex:none}.charts figure.waterfall{width:66%;flex:none}.first .two svg{width:90%}.two .charts figure{width:70%}details.figures,details.whole{display:none}
section:last-of-type{columns:2;break-inside:avoid}section:last-of-type>h2{column-span:all}
}
)";

// Clicking a heading sorts by that column, folded rows included; without it the table stays as it was computed.
inline constexpr std::string_view kReportScript = R"(
for(const t of document.querySelectorAll(".wide>table")){const more=t.closest(".more");if(more)continue;
const b=t.tBodies[0],n=b.rows.length,next=t.parentNode.nextElementSibling,
rest=next&&next.matches(".more")?next.querySelector("tbody"):null;[...t.tHead.rows[0].cells].forEach((h,i)=>{
const k=document.createElement("button");k.textContent=h.textContent;h.textContent="";h.append(k);let up=false;
k.onclick=()=>{up=!up;h.parentNode.querySelectorAll("th").forEach(o=>o.removeAttribute("aria-sort"));
h.setAttribute("aria-sort",up?"ascending":"descending");
[...b.rows,...rest?rest.rows:[]].sort((x,y)=>{
const p=x.cells[i].dataset.v??x.cells[i].textContent,q=y.cells[i].dataset.v??y.cells[i].textContent;
const d=p!==""&&q!==""&&!isNaN(p)&&!isNaN(q)?p-q:p<q?-1:p>q?1:0;return up?d:-d})
.forEach((r,j)=>(j<n?b:rest).append(r))}})}
)";

}  // namespace swinscope
