"t.a"() {a = dense<[1,0,1,1,1,1,1,1,1,1,1]> : tensor<11xi1>, b = dense<[1,2]> : tensor<2xi4>, c=dense<[1,2]> : tensor<2xi65>, d = dense_resource<kk> : tensor<2xf32>, e = loc(unknown), f = loc("x"), g = loc("x"("a":1:2)), "$x" = 1, i32 = 2, loc = 3, "a.b" = 1, "1a" = 2, s2=@"1"} : () -> ()
{-# dialect_resources: { builtin: { kk: "0x080000000000803F00000040" } } #-}
