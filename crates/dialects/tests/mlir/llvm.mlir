llvm.func @declared(i32, ...) -> !llvm.ptr
llvm.func internal fastcc @named(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.struct<(i32, ptr)>) -> (i64 {llvm.zeroext}) attributes {passthrough = ["nounwind"]} {
  %0 = llvm.mlir.constant(7 : i64) : i64
  llvm.return %0 : i64
}
llvm.func hidden local_unnamed_addr @nothing() {
  llvm.unreachable
}
llvm.func @open(...)
llvm.func @numbers(%arg0: i32, %arg1: i32, %arg2: f32) -> i1 {
  %0 = llvm.add %arg0, %arg1 : i32
  %1 = llvm.add %0, %arg1 overflow<nsw, nuw> : i32
  %2 = llvm.sub %1, %arg1 overflow<nuw> {note} : i32
  %3 = llvm.mul %2, %arg1 : i32
  %4 = llvm.shl %3, %arg1 : i32
  %5 = llvm.udiv %4, %arg1 : i32
  %6 = llvm.sdiv exact %5, %arg1 : i32
  %7 = llvm.lshr %6, %arg1 : i32
  %8 = llvm.ashr exact %7, %arg1 : i32
  %9 = llvm.urem %8, %arg1 : i32
  %10 = llvm.srem %9, %arg1 : i32
  %11 = llvm.and %10, %arg1 : i32
  %12 = llvm.or disjoint %11, %arg1 : i32
  %13 = llvm.xor %12, %arg1 : i32
  %14 = llvm.fadd %arg2, %arg2 : f32
  %15 = llvm.fsub %14, %arg2 {fastmathFlags = #llvm.fastmath<fast>} : f32
  %16 = llvm.fmul %15, %arg2 : f32
  %17 = llvm.fdiv %16, %arg2 : f32
  %18 = llvm.frem %17, %arg2 : f32
  %19 = llvm.fneg %18 : f32
  %20 = llvm.freeze %19 : f32
  %21 = llvm.icmp "sge" %13, %arg1 : i32
  %22 = llvm.fcmp "_true" %20, %arg2 : f32
  %23 = llvm.fcmp "oeq" %20, %arg2 {fastmathFlags = #llvm.fastmath<nnan>} : f32
  %24 = llvm.select %21, %22, %23 : i1, i1
  %25 = llvm.sext %13 : i32 to i64
  %26 = llvm.zext nneg %13 : i32 to i64
  %27 = llvm.trunc %26 overflow<nsw> : i64 to i8
  %28 = llvm.sitofp %27 : i8 to f64
  %29 = llvm.uitofp %27 : i8 to f64
  %30 = llvm.fptosi %29 : f64 to i32
  %31 = llvm.fptoui %29 : f64 to i32
  %32 = llvm.fpext %20 : f32 to f64
  %33 = llvm.fptrunc %32 : f64 to f16
  %34 = llvm.bitcast %20 : f32 to i32
  llvm.return %24 : i1
}
llvm.func @memory(%arg0: i64, %arg1: !llvm.ptr, %arg2: i1) -> i32 {
  %0 = llvm.alloca %arg0 x i32 : (i64) -> !llvm.ptr
  %1 = llvm.alloca inalloca %arg0 x !llvm.struct<(i32, array<4 x f32>)> {alignment = 16 : i64} : (i64) -> !llvm.ptr<3>
  %2 = llvm.addrspacecast %1 : !llvm.ptr<3> to !llvm.ptr
  %3 = llvm.getelementptr %0[%arg0] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %4 = llvm.getelementptr inbounds %2[0, 1, %arg0] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i32, array<4 x f32>)>
  %5 = llvm.load %3 : !llvm.ptr -> i32
  %6 = llvm.load volatile %4 {alignment = 4 : i64} : !llvm.ptr -> f32
  %7 = llvm.load %3 atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  %8 = llvm.load %3 atomic syncscope("agent") monotonic invariant_group {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.store %5, %3 : i32, !llvm.ptr
  llvm.store volatile %6, %4 {nontemporal} : f32, !llvm.ptr
  llvm.store %7, %3 atomic release {alignment = 4 : i64} : i32, !llvm.ptr
  %9 = llvm.ptrtoint %4 : !llvm.ptr to i64
  %10 = llvm.inttoptr %9 : i64 to !llvm.ptr
  %11 = llvm.mlir.undef : !llvm.struct<(i32, ptr)>
  %12 = llvm.mlir.poison : i32
  %13 = llvm.mlir.zero : !llvm.ptr
  %14 = llvm.mlir.addressof @numbers : !llvm.ptr
  %15 = llvm.call @named(%10, %11) : (!llvm.ptr, !llvm.struct<(i32, ptr)>) -> i64
  %16 = llvm.call fastcc @named(%10, %11) : (!llvm.ptr, !llvm.struct<(i32, ptr)>) -> i64
  %17 = llvm.call @declared(%12, %arg0) vararg(!llvm.func<ptr (i32, ...)>) : (i32, i64) -> !llvm.ptr
  llvm.call tail @nothing() : () -> ()
  llvm.cond_br %arg2, ^bb1, ^bb2(%8 : i32)
^bb1:
  llvm.br ^bb2(%5 : i32)
^bb2(%18: i32):
  llvm.return %18 : i32
}
