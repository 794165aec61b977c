use pagefence_models::*; use pagefence::cell::Profile; use pagefence_models::isolated::*; use pagefence::lifetime::Kind;
fn main(){
  let mode=std::env::args().nth(1).unwrap(); let ms:u64=std::env::args().nth(2).unwrap().parse().unwrap();
  let exe=std::env::current_exe().unwrap(); let prog=exe.parent().unwrap().parent().unwrap().join("pagefence-model-worker");
  let only:Option<Vec<String>>=std::env::args().nth(3).map(|s|s.split(',').map(String::from).collect()); let profiles:Vec<Profile> = if mode=="controls" || mode=="wcontrols" { let r=Profile::reference(); r.switches.iter().filter(|s|only.as_ref().is_none_or(|o|o.contains(&s.name().to_string()))).map(|s|r.with(s,false)).collect() } else { Profile::presets().map(|p|p.0).filter(|p|p.name!="reference").collect() };
  let engine = if mode=="loom" {Engine::Loom{preemptions:Some(3)}} else {Engine::Shuttle};
  for p in profiles { let mut jobs=vec![]; for m in all(){ for s in if mode.starts_with('w') {&m.wholes} else {&m.slices} { jobs.push(Job{model:m.name.into(),slice:s.name.clone(),profile:p.clone(),engine,seed:7,executions:u64::MAX,milliseconds:Some(ms),until:if mode.contains("controls"){Kind::ALL.to_vec()}else{vec![]}}); } }
   let rs=run_all(&jobs,2,&Worker{program:&prog,arguments:&[]},|_|{});
   println!("== {}",p.name); for r in rs { if !r.met.is_empty() || matches!(r.ending,Ending::Failed(_)) { println!("  {}/{} {:?} {}: {}",r.job.model,r.job.slice,r.ending,r.executions, r.met.iter().map(|m|format!("{} ({}){}",m.signature,m.first, if m.unordered {"!"} else {""})).collect::<Vec<_>>().join("; ")); } }
  }
}
