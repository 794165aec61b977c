use pagefence_models::*; use pagefence::cell::Profile; use pagefence_models::isolated::*;
fn main(){
  let a:Vec<String>=std::env::args().skip(1).collect();
  // engine profile ms model/slice...
  let engine=match a[0].as_str(){"shuttle"=>Engine::Shuttle,"dfs"=>Engine::Dfs,"loom"=>Engine::Loom{preemptions:None},n=>Engine::Loom{preemptions:Some(n.parse().unwrap())}};
  let mut p=a[1].split(' '); let mut profile=Profile::preset(p.next().unwrap()).unwrap(); for s in p {profile=profile.set(s).unwrap();}
  let ms:u64=a[2].parse().unwrap(); let whole=a[3]=="whole"; let only=a.get(4);
  let mut jobs=vec![];
  for m in all(){ for s in if whole {&m.wholes} else {&m.slices} { if only.is_none_or(|o|o.split(',').any(|o|s.name==o||m.name==o)) {jobs.push(Job{model:m.name.into(),slice:s.name.clone(),profile:profile.clone(),engine,seed:1,executions:u64::MAX,milliseconds:Some(ms),until:vec![]});} } }
  let exe=std::env::current_exe().unwrap(); let prog=exe.parent().unwrap().parent().unwrap().join("pagefence-model-worker");
  run_all(&jobs,2,&Worker{program:&prog,arguments:&[]},|r|{
    println!("{}/{} {:?} {} exec {} ms sched {:?}",r.job.model,r.job.slice,r.ending,r.executions,r.milliseconds,r.schedules);
    for m in &r.met { println!("     {} first {} count {} len {} sw {} {:?} {}",m.signature,m.first,m.count,m.schedule.len(),m.schedule.switches(),m.strategy, if m.unordered {"UNORDERED"} else {""}); }
  });
}
