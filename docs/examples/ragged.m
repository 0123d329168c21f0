// A 64x64x64 product in tiles of 21 and 39, cut again into tiles of 3, 17 and 5: none divides the other.
Network example {
  Layer product {
    Type: GEMM
    Dimensions { M: 64, N: 64, K: 64 }
    Dataflow {
      SpatialMap(21,21) M;
      TemporalMap(39,39) K;
      Cluster(1,P);
      TemporalMap(3,3) M;
      TemporalMap(17,17) K;
      SpatialMap(5,5) N;
    }
  }
}
